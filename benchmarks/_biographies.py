"""Short biographies made from templates: whose words have a gender, and whose occupation is never named.

Occupations and hobbies are taken by women and men with different shares, as in real biographies. What somebody does at
work is drawn from the words of the occupation and, more rarely, from those of its field, so that some biographies leave
open which occupation it is.
"""

import sys
from pathlib import Path

import numpy as np


def listed(text):
    """Return the words or phrases of a text that bars part."""
    return text.split("|")


NAMES = {
    "woman": listed(
        "Anna|Maria|Laura|Emma|Sophie|Julia|Sarah|Hannah|Alice|Clara|Elena|Nora|Grace|Ruth|Fatima|Priya|Mei|"
        "Ingrid|Rosa|Amelia|Linda|Susan|Karen|Nancy|Margaret|Helen|Diana|Olga|Yuki|Leila"
    ),
    "man": listed(
        "Peter|Thomas|John|David|Michael|Paul|Daniel|Martin|Robert|James|Carlos|Ahmed|Rajesh|Wei|Lars|Pedro|"
        "Henry|George|Frank|Kevin|Brian|Steven|Mark|Edward|Richard|Ivan|Oleg|Kenji|Omar|Victor"
    ),
}
ANY_NAMES = listed("Alex|Sam|Robin|Kim|Jordan|Taylor|Casey|Morgan|Jamie|Lee|Chris|Pat|Charlie|Quinn|Avery|Riley")
WORDS = {
    "woman": {"She": "She", "she": "she", "her": "her", "Her": "Her", "spouse": "husband", "parent": "mother"}
    | {"sibling": "sister", "child": "daughter", "elder": "grandmother"},
    "man": {"She": "He", "she": "he", "her": "his", "Her": "His", "spouse": "wife", "parent": "father"}
    | {"sibling": "brother", "child": "son", "elder": "grandfather"},
}
FIELDS = {
    "health": "talks to patients and their families|works night shifts at a hospital|keeps medical records up to date|"
    "explains treatments to patients|trains young colleagues in a clinic|reads new medical studies",
    "teaching": "prepares lessons and exams|gives talks to students|marks papers in the evening|"
    "helps young people to learn|sits on a committee of the school|writes letters of recommendation",
    "technology": "meets clients to discuss requirements|draws diagrams of systems|reviews plans with the team|"
    "works on a computer most of the day|leads a small technical project|estimates costs and deadlines",
    "offices": "advises companies on contracts|writes long reports for clients|checks documents for mistakes|"
    "prepares files for an audit|meets clients in the office|explains new rules to managers",
    "media": "travels to meet people and tell their stories|works for a magazine|shows work in public|"
    "sells stories to newspapers|edits material late at night|covers local events",
}
OCCUPATIONS = {  # field, share of women, what they do
    "nurse": ("health", 0.85, "gives injections and changes dressings|looks after patients on the ward|"
              "measures blood pressure and temperature|cares for the elderly after operations"),
    "physician": ("health", 0.45, "diagnoses illnesses and prescribes medicine|treats infections and chronic disease|"
                  "examines patients in a practice|orders blood tests and scans"),
    "surgeon": ("health", 0.2, "operates on hearts and lungs|performs transplants|repairs broken bones in theatre|"
                "removes tumours in long operations"),
    "dentist": ("health", 0.4, "fills teeth and fits crowns|treats gums and jaws|straightens teeth with braces|"
                "pulls wisdom teeth"),
    "teacher": ("teaching", 0.75, "teaches reading and arithmetic|looks after a class of small children|"
                "talks to parents about homework|organises school trips"),
    "professor": ("teaching", 0.35, "lectures at the university|supervises doctoral theses|publishes in journals|"
                  "runs a research group"),
    "programmer": ("technology", 0.2, "writes code for web services|fixes bugs in databases|develops mobile apps|"
                   "maintains servers and networks"),
    "architect": ("technology", 0.3, "designs houses and bridges|draws floor plans|"
                  "plans the renovation of old buildings|builds models of public squares"),
    "attorney": ("offices", 0.4, "defends clients in court|files lawsuits and appeals|negotiates settlements|"
                 "represents families in custody cases"),
    "accountant": ("offices", 0.55, "prepares tax returns|balances the books of small firms|keeps payrolls and ledgers|"
                   "plans budgets and cash flow"),
    "journalist": ("media", 0.5, "reports on politics and elections|interviews ministers|writes columns and editorials|"
                   "investigates corruption"),
    "photographer": ("media", 0.45, "takes portraits and wedding pictures|photographs landscapes|"
                     "develops film in a darkroom|lights sets for fashion shoots"),
}  # fmt: skip
HOBBIES = {  # shares of women
    "plays football": 0.2, "watches boxing": 0.2, "repairs old motorcycles": 0.15, "goes fishing": 0.25,
    "plays video games": 0.3, "brews beer": 0.2, "plays chess": 0.35, "goes hunting": 0.15, "plays golf": 0.3,
    "runs marathons": 0.5, "cooks Italian food": 0.5, "climbs mountains": 0.45, "plays the piano": 0.5,
    "reads crime novels": 0.55, "rides a bicycle": 0.5, "collects stamps": 0.4, "grows tomatoes": 0.5,
    "sings in a choir": 0.65, "paints with watercolours": 0.65, "dances ballet": 0.85, "does yoga": 0.8,
    "knits sweaters": 0.9, "rides horses": 0.75, "bakes cakes": 0.75, "arranges flowers": 0.85,
}  # fmt: skip
CITIES = listed(
    "Boston|Chicago|Denver|Seattle|Houston|Toronto|London|Dublin|Glasgow|Paris|Lyon|Madrid|Lisbon|Berlin|"
    "Hamburg|Vienna|Zurich|Milan|Rome|Athens|Warsaw|Prague|Oslo|Stockholm|Helsinki|Mumbai|Delhi|Singapore|"
    "Seoul|Tokyo|Sydney|Auckland|Nairobi|Lagos|Cairo|Lima|Bogota|Santiago|Montreal|Atlanta"
)
FIRST = (
    "{name} {work} in {city}.",
    "{name} lives in {city} and {work}.",
    "Born in {city}, {name} now {work}.",
    "After {years} years in {city}, {name} {work}.",
    "{name} {work}.",
)
SECOND = (
    "{She} also {work2}.",
    "{She} {work2} and has done so for {years} years.",
    "In {her} job in {city2} {she} {work2}.",
    "A graduate of a college in {city2}, {she} often {work2}.",
    "Colleagues in {city2} say that {name} {work2}.",
    "Most of the week is spent in {city2}, where {name} {work2}.",
)
THIRD = (
    "In {her} free time {she} {hobby}.",
    "At weekends {she} {hobby} with {her} {spouse}.",
    "{Her} {spouse} often {hobby}, too.",
    "The proud {parent} of {number} children, {she} {hobby} whenever possible.",
    "{She} learned it from {her} {elder}, who {hobby} to this day.",
    "{Her} {child} and {her} {sibling} live in {city3}.",
    "Outside work {name} {hobby}.",
    "At home in {city3} {name} {hobby}.",
)
SHARE_OF_FIELD = 0.4  # of what somebody does that others of the field do as well
SHARE_OF_ANY_NAME = 0.2


def biographies(n, seed=0):
    """Return n distinct texts, whether their words are those of a woman, and the number of the occupation."""
    rng = np.random.default_rng(seed)
    found = {}
    while len(found) < n:
        occupation = int(rng.integers(len(OCCUPATIONS)))
        share = list(OCCUPATIONS.values())[occupation][1]
        gender = "woman" if rng.random() < share else "man"
        found.setdefault(biography(rng, occupation, gender), (gender == "woman", occupation))
    women, occupations = zip(*found.values(), strict=True)
    return list(found), np.array(women).astype(int), np.array(occupations)


def biography(rng, occupation, gender):
    """Return a text of two or three sentences."""
    field, _, own = list(OCCUPATIONS.values())[occupation]

    def work():
        return rng.choice(listed(FIELDS[field] if rng.random() < SHARE_OF_FIELD else own))

    first = second = work()
    while second == first:
        second = work()
    shares = np.array(list(HOBBIES.values()))
    shares = shares if gender == "woman" else 1 - shares
    words = WORDS[gender] | {
        "name": rng.choice(ANY_NAMES if rng.random() < SHARE_OF_ANY_NAME else NAMES[gender]),
        "work": first,
        "work2": second,
        "hobby": rng.choice(list(HOBBIES), p=shares / shares.sum()),
        "years": rng.choice(["two", "five", "seven", "ten", "twenty"]),
        "number": rng.choice(["two", "three", "four"]),
    }
    words |= dict(zip(("city", "city2", "city3"), rng.choice(CITIES, 3, replace=False), strict=True))
    patterns = [rng.choice(FIRST), rng.choice(SECOND), rng.choice(THIRD)]
    if rng.random() < 0.3:
        del patterns[1]
    return " ".join(patterns).format(**words)


def write_vectors(n, file):
    """Save the sentence vectors of n texts, of unit length; runs where wordllama is installed."""
    import wordllama

    # Where the package keeps its own files: its wheel has them all, and nothing is fetched.
    inside = Path(wordllama.__file__).parent
    model = wordllama.WordLlama.load(cache_dir=inside, disable_download=True)
    np.save(file, model.embed(biographies(n)[0], norm=True))


if __name__ == "__main__":
    write_vectors(int(sys.argv[1]), sys.argv[2])
