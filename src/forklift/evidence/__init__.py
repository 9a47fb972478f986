"""Where on the pages a value is printed: the parts of `forklift.citations`."""
