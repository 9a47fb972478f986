"""The profile `wide`: documents as people meet them, in many fonts, layouts, languages and states of wear."""
