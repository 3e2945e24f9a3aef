package daemon

import (
	_ "embed" // of the declarations
	"strings"
	"sync"
)

// declarationText declares every setting once. A line "# TITLE" begins a section, and a line
// "[NAME]" begins a setting. The attributes of the setting follow. NAME is both the flag and the
// key of the configuration file.
//
//	help, more    the help text, and text that only the reference page has
//	group         the group of "troupe serve --help"; without one only --help=all lists the flag
//	default, short, deprecated, example, since
//	repeat        list items may contain commas, so the flag is repeated for each item
//	was           the former key of the configuration file, accepted with a warning
//	required      must not be empty
//	values        the allowed values
//	min, max, above
//	with, needs   a setting that must also be given; with "with", neither may be given alone
//
// An entry with the attribute unsupported is an UnsupportedFlag.
//
//go:embed settings.ini
var declarationText string

// A declaration maps the attributes of a setting to their values, including "name" and "section".
type declaration map[string]string

var declarations = sync.OnceValue(func() (all []declaration) {
	section := ""
	for line := range strings.Lines(declarationText) {
		line = strings.TrimSpace(line)
		switch key, value, _ := strings.Cut(line, " = "); {
		case line == "":
		case strings.HasPrefix(line, "# "):
			section = line[2:]
		case line[0] == '[':
			all = append(all, declaration{"name": line[1 : len(line)-1], "section": section})
		default:
			all[len(all)-1][key] = value
		}
	}
	return all
})

// An UnsupportedFlag is a flag of kube-apiserver or kube-controller-manager that the daemon
// rejects.
type UnsupportedFlag struct {
	Name   string
	Type   string // of its values, as in the help text; "" means string
	Reason string // a sentence
	// Controller means that kube-controller-manager has the flag.
	Controller bool
	// Neutral is the value that matches the daemon's behavior, or "*" if every value does.
	Neutral string
}

// UnsupportedFlags returns all unsupported flags of kube-apiserver, and those of
// kube-controller-manager that users may expect.
func UnsupportedFlags() (all []UnsupportedFlag) {
	for _, d := range declarations() {
		if reason := d["unsupported"]; reason != "" {
			all = append(all, UnsupportedFlag{d["name"], d["type"], reason, d["controller"] != "", d["neutral"]})
		}
	}
	return all
}
