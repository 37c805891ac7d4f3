"""The names of months and of days of the week, in English and German."""

MONTHS = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
GERMAN_MONTHS = "januar februar märz april mai juni juli august september oktober november dezember".split()

MONTH_NUMBERS = {
    form: number
    for names in (MONTHS, GERMAN_MONTHS)
    for number, name in enumerate(names, 1)
    for form in (name, name[:3])
} | {"sept": 9, "mrz": 3, "jän": 1, "jänner": 1, "maerz": 3}

DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")

GERMAN_DAYS = ("montag", "dienstag", "mittwoch", "donnerstag", "freitag", "samstag", "sonntag")

WEEKDAYS = {
    name: day
    for names in (
        DAYS,
        "mon tue wed thu fri sat sun".split(),
        "mon tues wed thur fri sat sun".split(),
        "mon tue wed thurs fri sat sun".split(),
        GERMAN_DAYS,
        "montags dienstags mittwochs donnerstags freitags sonnabend sonntags".split(),
    )
    for day, name in enumerate(names)
}
