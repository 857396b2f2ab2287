from __future__ import annotations

import pytest
from io_support import declare


@pytest.fixture(scope="session")
def declared():
    """declared(program) -> its last relation, its types, its last directive."""
    return declare
