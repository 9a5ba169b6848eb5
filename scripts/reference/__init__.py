"""The reference under docs/, made from the code: `make reference`. One file here per page."""
