"""The memory of the plane: tables and statements declared once, one driver per database."""
