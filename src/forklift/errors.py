"""Everything that Forklift raises on purpose.

ForkliftError                 exit code
|-- UsageError                2   options that cannot be honoured
|   |-- PageRangeError            a page range that is malformed or outside the document
|   |-- SchemaError               a schema that cannot be used; says where by JSON Pointer
|   `-- DatasetError              a dataset to evaluate on that is incomplete or malformed
|-- DocumentError             1   a file that cannot be read as a document
|   |-- PasswordError             an encrypted PDF without the right password
|   `-- LimitError                a file beyond the limits on bytes, pages or pixels
|-- ModelError                3   the model or engine cannot be used
|   |-- ModelNotFoundError        no such name, folder or file
|   `-- CheckpointError           a checkpoint that is incomplete, damaged or of another architecture
|-- DecodeError               1   decoding cannot go on (a grammar or sampling fault)
`-- OutputError               1   a result that cannot be written
    `-- DiskFullError             no room is left for it

A message says what, the numbers, and the way out.
"""


class ForkliftError(Exception):
    """Base of every error raised on purpose. `exit_code` is what the command line returns for it."""

    exit_code = 1


class UsageError(ForkliftError):
    exit_code = 2


class PageRangeError(UsageError):
    pass


class SchemaError(UsageError):
    pass


class DatasetError(UsageError):
    pass


class DocumentError(ForkliftError):
    pass


class PasswordError(DocumentError):
    pass


class LimitError(DocumentError):
    pass


class ModelError(ForkliftError):
    exit_code = 3


class ModelNotFoundError(ModelError):
    pass


class CheckpointError(ModelError):
    pass


class DecodeError(ForkliftError):
    pass


class OutputError(ForkliftError):
    pass


class DiskFullError(OutputError):
    pass
