from measurand.core.message import user
from measurand.core.request import Decode, Draw, Generate, key


def test_key():
    a = Generate((user("hi"),), decode=Decode(temperature=0))
    b = Generate((user("hi"),), decode=Decode(temperature=0.0))
    assert key("s", a, Draw()) == key("s", b, Draw())
