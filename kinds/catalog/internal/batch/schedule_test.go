package batch

import (
	"testing"
)

// TestCheckSchedule lists the forms of schedules and the errors of those that are none.
func TestCheckSchedule(t *testing.T) {
	const noFields = "expected exactly 5 fields, found 0: []"
	for schedule, want := range map[string]string{
		"* * * * *":                  "",
		"*/15 0-6/2 1,15 * ?":        "",
		"5/10 * * * *":               "",
		"0 0 * JAN-mar Sun,tue":      "",
		"@hourly":                    "",
		"@midnight":                  "",
		"@every 1h30m":               "",
		"TZ=UTC 0 0 * * *":           "",
		"CRON_TZ=Asia/Tokyo @weekly": "",
		"TZ= @daily":                 "",

		" ":                      noFields,
		"TZ=UTC":                 noFields,
		"TZ=UTC ":                noFields,
		"TZ=":                    noFields,
		"CRON_TZ=":               noFields,
		"CRON_TZ=UTC":            noFields,
		"TZ=No/Where":            "provided bad location No/Where: unknown time zone No/Where",
		"CRON_TZ=Nowhere @daily": "provided bad location Nowhere: unknown time zone Nowhere",
		"TZ=UTC\t*\t*\t*\t*\t*":  "provided bad location UTC\t*\t*\t*\t*\t*: unknown time zone UTC\t*\t*\t*\t*\t*",
		"* * * *":                "expected exactly 5 fields, found 4: [* * * *]",
		"0 * * * * *":            "expected exactly 5 fields, found 6: [0 * * * * *]",
		"@often":                 "unrecognized descriptor: @often",
		"@every day":             `failed to parse duration @every day: time: invalid duration "day"`,
		"60 * * * *":             "end of range (60) above maximum (59): 60",
		"* * 0 * *":              "beginning of range (0) below minimum (1): 0",
		"5-1 * * * *":            "beginning of range (5) beyond end of range (1): 5-1",
		"1-2-3 * * * *":          "too many hyphens: 1-2-3",
		"*/2/3 * * * *":          "too many slashes: */2/3",
		"*/0 * * * *":            "step of range should be a positive number: */0",
		"* * * * 7":              "end of range (7) above maximum (6): 7",
		"* * * * monday":         `failed to parse int from monday: strconv.Atoi: parsing "monday": invalid syntax`,
	} {
		got := ""
		if err := checkSchedule(schedule); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", schedule, got, want)
		}
	}
}
