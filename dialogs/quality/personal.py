"""Flags for personal data: how to reach somebody, where they are, what they are called.

The kinds follow the privacy taxonomy of VizWiz (Gurari et al., "VizWiz-Priv", CVPR 2019). What a
picture shows is not told apart from what the person says of themselves: a reviewer sees which.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

from phonenumbers import Leniency, PhoneNumberMatcher

from dialogs.quality.model import Finding, Flag, Limits, Talk
from dialogs.quality.wording import Phrases, called, plain, quoted, words

# --- How to reach somebody -----------------------------------------------------------------

_SAFE_ENDINGS: Final = (
    "com|net|org|edu|gov|info|biz|io|ly|gg|app|dev|uk|eu|ru|fr|br|xyz|online|site"
)
"""Endings of web addresses that are no words: people leave out the blank after a full stop."""
_MAILERS: Final = (
    r"gmail|googlemail|hotmail|outlook|yahoo|icloud|protonmail|gmx|mail\s*ru|yandex|qq"
)
_AT: Final = r"(?:\s*@\s*|\s*[\[({<]\s*(?:at|@)\s*[\])}>]\s*|\s+at\s+)"
_DOT: Final = (
    r"(?:\s*\.\s*|\s*[\[({<]\s*(?:dot|punkt|punto|\.)\s*[\])}>]\s*|\s+(?:dot|punkt|punto)\s+)"
)

_EMAIL: Final = re.compile(
    rf"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"
    rf"|[\w.+-]{{2,}}{_AT}[\w-]+{_DOT}(?:{_SAFE_ENDINGS}|de|es|it|in|co|me)\b"
    rf"|[\w.+-]{{2,}}{_AT}(?:{_MAILERS})\b"
)
_WEB: Final = re.compile(
    rf"\bhttps?\s*:\s*/|\bhxxps?\b|\bwww\s*(?:\.|dot\b)"
    rf"|\b[a-z0-9-]{{2,}}\.(?:{_SAFE_ENDINGS})\b(?!\.)"
    rf"|\b[a-z0-9-]{{2,}}\.[a-z]{{2,4}}/\w"
    rf"|\b[a-z0-9-]{{2,}}{_DOT}com\b"
)
_WEB_WORDS: Final = re.compile("http|hxxp|www|dot|punto|punkt")
_HANDLE: Final = re.compile(r"(?<![\w@.])@(?=[\w.]*[a-z])[\w.]{3,30}")

_NUMBER_WORDS: Final = {
    word: str(value)
    for words in (
        "zero one two three four five six seven eight nine",
        "null eins zwei drei vier fünf sechs sieben acht neun",
        "cero uno dos tres cuatro cinco seis siete ocho nueve",
        "zéro un deux trois quatre cinq six sept huit neuf",
    )
    for value, word in enumerate(words.split())
} | {"oh": "0"}
_SPELLED: Final = re.compile(
    rf"\b(?:{'|'.join(sorted(_NUMBER_WORDS, key=len, reverse=True))}|\d)\b"
    rf"(?:[\s,.-]*\b(?:{'|'.join(sorted(_NUMBER_WORDS, key=len, reverse=True))}|\d)\b){{6,}}"
)
_TOKEN: Final = re.compile(r"\w+")
_DIGITS: Final = re.compile(r"\+?\(?\d(?:[\s().–-]{0,3}\d){6,}")
_LEAST_DIGITS: Final = 7
_DATE: Final = re.compile(
    r"\b\d{1,4}[./-]\d{1,2}[./-]\d{1,4}(?:\s+\d{1,2}[:.]\d{2}(?:[:.]\d{2})?)?\b"
)

_REGIONS: Final = {
    "en": "US GB IN CA AU NG", "de": "DE AT CH", "fr": "FR BE CH CA", "es": "ES MX AR CO",
    "it": "IT", "pt": "BR PT", "nl": "NL BE", "pl": "PL", "ru": "RU", "tr": "TR", "hi": "IN",
    "ur": "PK IN", "bn": "BD IN", "ar": "EG SA MA AE", "fa": "IR", "zh": "CN TW", "ja": "JP",
    "ko": "KR", "id": "ID", "vi": "VN", "tl": "PH", "fil": "PH", "uk": "UA", "el": "GR",
    "he": "IL", "sv": "SE",
}  # fmt: skip
"""Countries whose way of writing phone numbers is tried, beside those of the workers' majority."""


def contact(talk: Talk, limits: Limits) -> Iterator[Finding]:
    """E-mail and web addresses, handles, phone numbers, and other long numbers."""
    for line in talk.lines:
        text = unicodedata.normalize("NFKC", line.text).casefold()
        if (what := _contact(text, talk.language, limits)) is not None:
            reason = f"{called(line)} holds {what}: {quoted(line.text)}"
            yield Finding(Flag.CONTACT, line.role, line.round, line.seq, reason)


def _contact(text: str, language: str, limits: Limits) -> str | None:
    said = words(text)
    if ("@" in text or "at" in said) and _EMAIL.search(text):
        return "an e-mail address"
    if ("." in text or _WEB_WORDS.search(text)) and _WEB.search(text):
        return "a web address"
    if "@" in text and _HANDLE.search(text):
        return "a user name"
    if sum(map(str.isdecimal, text)) + sum(word in _NUMBER_WORDS for word in said) < _LEAST_DIGITS:
        return None
    spelled = _SPELLED.sub(_as_digits, text)
    spelled = _DATE.sub(" ", spelled)
    run = _DIGITS.search(spelled)
    if run is None:
        return None
    digits = sum(map(str.isdecimal, run[0]))
    if any(_is_phone(spelled, region) for region in _regions(language)):
        return "a phone number"
    return f"a number of {digits} digits" if digits >= limits.long_number_digits else None


def _as_digits(match: re.Match[str]) -> str:
    return "".join(_NUMBER_WORDS.get(token, token) for token in _TOKEN.findall(match[0]))


def _is_phone(text: str, region: str) -> bool:
    return PhoneNumberMatcher(text, region, leniency=Leniency.VALID).has_next()


def _regions(tag: str) -> list[str]:
    language, *rest = tag.split("-")
    named = [part.upper() for part in rest if len(part) == 2 and part.isalpha()]
    usual = _REGIONS.get(language.lower(), "").split()
    return list(dict.fromkeys([*named, *usual, "US", "IN"]))


# --- Where they are ------------------------------------------------------------------------

_NOT_A_STREET: Final = (
    "way wheel the a an of on in at to from by with across down up and or is are was were has have "
    "people person persons man men woman women car cars bus buses bike bikes parked standing "
    "walking other others says said say seconds feet foot side tennis only st nd rd th lane lanes"
)
_STREET: Final = re.compile(
    rf"\b\d{{2,5}}[a-z]?,?\s+(?:(?!(?:{'|'.join(_NOT_A_STREET.split())})\b)[^\W\d_]+\.?\s+){{1,3}}"
    r"(?:street|avenue|ave|road|lane|boulevard|blvd|terrace|crescent|nagar|marg|str|st|rd|drive|dr"
    r"|close|court|grove|gardens)\b(?!\s+(?:light|lamp|sign|corner))"
    r"|\b\w+(?:straße|strasse|str\.|weg|gasse|platz)\s+\d{1,4}[a-z]?\b"
    r"|\b\d{1,4},?\s+(?:bis\s+)?(?:rue|allée|chemin|impasse)\s+\w+"
    r"|\b(?:calle|avenida|av\.|rua|travessa|via|viale|corso|piazza|ulica|ul\.|улица|ул\.)\s+"
    r"(?:[^\W\d_]+\.?,?\s+){1,4}(?:n[º°.]?\s*)?\d{1,5}\b"
    r"|\b(?:شارع|حي)\s+(?:\S+\s+){1,3}(?:رقم\s+)?\d{1,5}\b"
)
_COORDINATES: Final = re.compile(r"-?\d{1,3}\.\d{3,}\s*°?\s*[ns]?\s*,\s*-?\d{1,3}\.\d{3,}")
_POSTCODE: Final = re.compile(
    r"\b(?:zip|post(?:al)?|pin)\s*code\W+(?:is\W+)?[a-z]{0,2}\d|\bplz\W+\d{4,5}\b"
)
# Only as they are written: in lower case they are words and numbers of a picture.
_CAPITAL_CODES: Final = re.compile(
    r"\b[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}\b|,\s*[A-Z]{2}\s+\d{5}(?:-\d{4})?\b"
)
_SAYS_WHERE: Final = Phrases.of(
    "i we im ive weve my come ich meine vivo resido yo soy mi moro meu j jhabite je mon abito il",
    r"\b(?:i|we)(?:m|ve| am| are| do| have)? (?:currently |now |been )?"
    r"(?:live|living|lived|reside|located|based) (?:in|at|on|near)\b"
    r"|\b(?:i am|im|we are|i come|i) from "
    r"(?!the (?:left|right|top|bottom|back|front|side)\b|here\b)\w"
    r"|\bmy (?:home |street |house |postal |mailing |full |current )?address\b"
    r"|\bmy (?:hometown|home town|neighbou?rhood|zip|postcode)\b"
    r"|\bcome to my (?:house|place|home)\b"
    r"|\bich (?:wohne|lebe) (?:in|bei|auf)\b|\bich komme aus\b|\bmeine (?:adresse|anschrift)\b"
    r"|\b(?:vivo|resido) (?:en|in|na|no|em)\b|\b(?:yo )?soy de (?!la |las |los |color)\w"
    r"|\bmi direccion\b|\bmi dirección\b|\bmoro (?:em|no|na)\b|\bmeu endereço\b"
    r"|\bj ?habite\b|\bje (?:vis|viens) (?:a|à|en|au|de|dans)\b|\bmon adresse\b"
    r"|\b(?:abito|vivo) (?:a|in)\b|\bil mio indirizzo\b|\bя живу (?:в|на)\b|\bмой адрес\b"
    r"|(?:أعيش|اعيش|أسكن|اسكن) في|\bأنا من\b|\bعنواني\b"
    r"|मैं \S+(?: \S+)? (?:में|मे) (?:रहता|रहती)|मेरा पता",
)


def location(talk: Talk, limits: Limits) -> Iterator[Finding]:
    """A street with a number, a postcode, coordinates, or a person who says where they live."""
    for line in talk.lines:
        text = unicodedata.normalize("NFKC", line.text)
        lower = text.casefold()
        if _SAYS_WHERE.search(plain(text)):
            what = "says where somebody lives or is from"
        elif not any(map(str.isdecimal, lower)):
            continue
        elif _STREET.search(lower):
            what = "looks like a postal address"
        elif _COORDINATES.search(lower):
            what = "holds coordinates"
        elif _POSTCODE.search(lower) or _CAPITAL_CODES.search(text):
            what = "holds a postcode"
        else:
            continue
        reason = f"{called(line)} {what}: {quoted(line.text)}"
        yield Finding(Flag.LOCATION, line.role, line.round, line.seq, reason)


# --- What they are called ------------------------------------------------------------------

_NAME: Final = Phrases.of(
    "name names call called heisse llamo nombre appelle mappelle nom prenom chiamo nome chamo naam "
    "heet",
    r"\bmy (?:full |first |last |real |user |nick ?)?name(?:s| is) "
    r"(?!(?:not|on|in|the|a|written|there|it|no)\b)\w{2,}"
    r"|(?:^|\b(?:you can|please|just|people|they|friends|everyone) )call me "
    r"(?!(?:when|at|on|back|if|now|a|an)\b)\w|\bi (?:am|m) called \w|\bim called \w"
    r"|\bmein name ist \w|\bich hei(?:ß|ss)e \w|\bme llamo \w|\bmi nombre es \w"
    r"|\bje m ?appelle \w|\bmon (?:nom|prenom|prénom) est \w|\bmi chiamo \w|\bil mio nome e \w"
    r"|\bil mio nome è \w|\b(?:o )?meu nome (?:é|e) \w|\bme chamo \w|\bmijn naam is \w"
    r"|\bik heet \w|\bменя зовут \w|\bbenim adım \w|\bmam na imię \w"
    r"|\bاسمي \w|मेरा नाम",
)


def name(talk: Talk, limits: Limits) -> Iterator[Finding]:
    """A person who says what they are called. Names alone are not looked for."""
    for line in talk.lines:
        if _NAME.search(plain(line.text)):
            reason = f"{called(line)} gives a name: {quoted(line.text)}"
            yield Finding(Flag.NAME, line.role, line.round, line.seq, reason)
