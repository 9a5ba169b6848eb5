"""The console: how a person signs in with a browser, and the pages that are served to it."""
