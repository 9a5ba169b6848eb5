"""Reading what a command did to git repositories, in git's own words."""
