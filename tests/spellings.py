"""Ways in which people write numbers, for the tests of all that reads them."""

from collections.abc import Sequence
from typing import NamedTuple


class Spelling(NamedTuple):
    """One way to write numbers.

    Parameters
    ----------
    plus : str, default="{}"
        What stands around the digits.
    minus : str or None, default=None
        The same for numbers below 0; None is a hyphen before all.
    decimal, groups : str
        The decimal mark, and the mark between groups of three digits.
    digits : int, default=2
        Digits after the decimal mark.
    power : int, default=0
        The power of ten that is written after them.
    """

    plus: str = "{}"
    minus: str | None = None
    decimal: str = "."
    groups: str = ""
    digits: int = 2
    power: int = 0

    def write(self, number: float) -> str:
        """The text of a number."""
        form = self.plus if number >= 0 else self.minus or f"-{self.plus}"
        marks = {",": self.groups, ".": self.decimal}
        return form.format(f"{abs(number):,.{self.digits}f}".translate(str.maketrans(marks)))

    def column(self, numbers: Sequence[float]) -> tuple[list[str], list[float]]:
        """The texts of numbers, and what they have to be read as."""
        rounded = [round(number, self.digits) for number in numbers]
        texts = [self.write(number) for number in rounded]
        return texts, [float(f"{number}e{self.power}") for number in rounded]


SPELLINGS = {
    "plain": Spelling(),
    "whole": Spelling(digits=0),
    "plus": Spelling("+{}", "-{}"),
    "padded": Spelling(" {} ", " -{} "),
    "kept from Excel": Spelling('="{}"', '="-{}"'),
    "powers of ten": Spelling("{}e2", power=2),
    "powers of ten, a minus of typographers": Spelling("{}e\u22122", power=-2),
    "decimal commas": Spelling(decimal=","),
    "groups with commas": Spelling(groups=","),
    "groups with points": Spelling(decimal=",", groups="."),
    "whole groups with commas": Spelling(groups=",", digits=0),
    "whole groups with points": Spelling(decimal=",", groups=".", digits=0),
    "groups with spaces": Spelling(groups=" "),
    "groups with spaces, decimal commas": Spelling(decimal=",", groups=" "),
    "groups with spaces that do not break": Spelling(decimal=",", groups="\u00a0"),
    "groups with narrow spaces": Spelling(decimal=",", groups="\u202f"),
    "groups with thin spaces": Spelling(groups="\u2009"),
    "groups with apostrophes": Spelling(groups="'"),
    "groups with curly apostrophes": Spelling(groups="\u2019"),
    "percent": Spelling("{}%"),
    "percent after a space": Spelling("{} %", decimal=","),
    "kg": Spelling("{} kg"),
    "kg at once": Spelling("{}kg"),
    "whole kg": Spelling("{} kg", digits=0),
    "kg in capitals": Spelling("{} KG"),
    "grams": Spelling("{} g"),
    "days": Spelling("{} days", digits=0),
    "degrees": Spelling("{} °C"),
    "square metres": Spelling("{} m2"),
    "kilometres per hour": Spelling("{} km/h", decimal=",", groups="."),
    "millimetres per second": Spelling("{} mm/s", decimal=",", groups="."),
    "kilograms per cubic metre": Spelling("{} kg/m³"),
    "decibels": Spelling("{} dB(A)", digits=0),
    "binary gigabytes": Spelling("{} GiB"),
    "EUR": Spelling("{} EUR"),
    "EUR at once": Spelling("{}EUR", groups=","),
    "USD before": Spelling("USD {}", "-USD {}"),
    "USD at once": Spelling("USD{}", "USD -{}", groups=","),
    "CHF": Spelling("CHF {}", groups="'"),
    "euros": Spelling("€{}"),
    "euros after": Spelling("{} €", decimal=",", groups="."),
    "euros before, a minus within": Spelling("€ {}", "€ -{}", ",", "."),
    "dollars": Spelling("${}", groups=","),
    "dollars in parentheses": Spelling("${}", "(${})", groups=","),
    "reals": Spelling("R$ {}", decimal=","),
    "crowns": Spelling("{} kr", decimal=",", groups=" "),
    "zlotys": Spelling("{} zł", decimal=","),
    "parentheses": Spelling(minus="({})"),
    "parentheses, kg": Spelling("{} kg", "({} kg)"),
    "a minus after": Spelling(minus="{}-"),
    "a minus after, groups": Spelling("{}", "{}-", ",", "."),
    "a minus after, before the sign": Spelling("{} €", "{}- €", ","),
    "a minus after, behind the sign": Spelling("€ {}", "€ {}-", ","),
    "a minus with a space": Spelling(minus="- {}"),
    "a minus of typographers": Spelling(minus="\u2212{}"),
    "a minus of typographers, a thin space": Spelling("{} €", "\u2212\u2009{} €", ","),
    "a minus of typographers, a sign before": Spelling("€\u2009{}", "€\u2009\u2212{}", ","),
}
#: Columns of text with digits that are no numbers, or not of one kind.
NO_NUMBERS = [
    ["$1,234.5", "€2,345.5"],
    ["17.5 %", "0.178", "20 %"],
    ["1.2k", "3k"],
    ["1.2M", "3.5M"],
    ["20 kg", "3 lb"],
    ["1st", "2nd", "3rd"],
    ["C1", "C12"],
    ["007", "010"],
    ["007 kg", "8 kg"],
    ["(1)", "(2)"],
    ["4x4", "2x4"],
    ["10-19 yrs", "20-29 yrs"],
    ["10-", "20-29"],
    ["007-", "008"],
    ["5-day", "3-day"],
    ["1001DE", "1002DE"],
    ["10115 Berlin", "20095 Berlin"],
    ["5 May", "6 May"],
    ["12m", "13m"],
    ["12 Mb", "13 Mb"],
    ["36 EU", "37 EU"],
    ["1,2,3", "4,5,6"],
    ["v 1.5", "2.5"],
    ["1.23.456", "1"],
    ["7", "8", "3 kg"],
    ["01.02.2024", "1.2.2024"],
]
