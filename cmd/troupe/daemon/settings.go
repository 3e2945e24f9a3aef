package daemon

import (
	_ "embed" // of the declarations
	"strings"
	"sync"
)

// declarationText declares every setting once. A line "# TITLE" begins a section, "[NAME]" a setting, and
// the lines after that are its attributes. NAME is the flag, and the key of the configuration file.
//
//	help, more    the help text, and what the reference page adds to it
//	group         the group of "troupe serve --help"; without one only --help=all lists the flag
//	default, short, deprecated, example, since
//	repeat        an item of a list may contain commas: the flag is given once for each
//	was           the key of the configuration file before, which is accepted with a warning
//	required      must not be empty
//	values        the allowed values
//	min, max, above
//	with, needs   the setting that must be given as well, and in the first case not alone either
//
// An entry with the attribute unsupported is a flag that the daemon does not have; see UnsupportedFlag.
//
//go:embed settings.ini
var declarationText string

// A declaration holds the attributes of a setting by their names, and its "name" and "section".
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

// An UnsupportedFlag is a flag of kube-apiserver or kube-controller-manager that the daemon does
// not have.
type UnsupportedFlag struct {
	Name   string
	Type   string // of its values, as the help text names it; "" is string
	Reason string // a sentence
	// Controller is set for a flag of kube-controller-manager.
	Controller bool
	// Neutral is the value that asks for nothing that the daemon does not do; "*" is any value.
	Neutral string
}

// UnsupportedFlags lists every flag of kube-apiserver that the daemon does not have, and those of
// kube-controller-manager that users look for here.
func UnsupportedFlags() (all []UnsupportedFlag) {
	for _, d := range declarations() {
		if reason := d["unsupported"]; reason != "" {
			all = append(all, UnsupportedFlag{d["name"], d["type"], reason, d["controller"] != "", d["neutral"]})
		}
	}
	return all
}
