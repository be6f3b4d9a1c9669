"""Models: fitted pipelines and the tables that they belong to, in memory and in files."""

from kernelmeans.models.files import load_model, save_model
from kernelmeans.models.labels import Labels
from kernelmeans.models.model import Model

__all__ = ["Labels", "Model", "load_model", "save_model"]
