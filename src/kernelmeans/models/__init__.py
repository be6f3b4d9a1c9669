"""Model files: a fitted model, and the table that it belongs to."""

from kernelmeans.models.files import load_model, save_model

__all__ = ["load_model", "save_model"]
