package daemon

import (
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/pflag"

	"github.com/troupe-api/troupe/cmd/troupe/internal/features"
	"github.com/troupe-api/troupe/cmd/troupe/internal/flags"
)

// fields returns the fields of c by setting name, which concatenates the "flag" tags of the
// enclosing structs and the field.
func (c *Config) fields() map[string]reflect.Value {
	all := map[string]reflect.Value{}
	addFields(all, "", reflect.ValueOf(c).Elem())
	return all
}

func addFields(all map[string]reflect.Value, prefix string, v reflect.Value) {
	for i := range v.NumField() {
		name, ok := v.Type().Field(i).Tag.Lookup("flag")
		if field := v.Field(i); field.Kind() == reflect.Struct {
			addFields(all, prefix+name, field)
		} else if ok {
			all[prefix+name] = field
		}
	}
}

type FlagGroup struct {
	Title string
	Flags *pflag.FlagSet
}

func newFlagGroup(title string) FlagGroup {
	g := FlagGroup{title, pflag.NewFlagSet(title, pflag.ContinueOnError)}
	g.Flags.SortFlags = false // keep the order of the declarations
	return g
}

// Flags returns the flags of all settings in groups, one group per section. The flags are bound to
// the fields of c, whose current values are the defaults.
func (c *Config) Flags() (groups []FlagGroup) {
	fields := c.fields()
	for _, d := range declarations() {
		field, ok := fields[d["name"]]
		if !ok {
			continue
		}
		if n := len(groups); n == 0 || groups[n-1].Title != d["section"] {
			groups = append(groups, newFlagGroup(d["section"]))
		}
		d.define(groups[len(groups)-1].Flags, field)
	}
	return groups
}

func (d declaration) define(f *pflag.FlagSet, field reflect.Value) {
	flags.Define(f, field, d["name"], d["short"], d["help"], d["repeat"] != "")
	if d["deprecated"] != "" {
		f.Lookup(d["name"]).Usage += " (DEPRECATED; instead: " + d["deprecated"] + ")"
	}
}

func allFlags(groups []FlagGroup) *pflag.FlagSet {
	all := newFlagGroup("").Flags
	for _, g := range groups {
		all.AddFlagSet(g.Flags)
	}
	return all
}

// Default returns the default settings.
func Default() Config {
	c := defaults()
	for _, field := range c.fields() {
		switch kind := field.Kind(); {
		case kind != reflect.Slice && kind != reflect.Map || field.IsNil():
		case kind == reflect.Slice:
			field.Set(reflect.AppendSlice(reflect.Zero(field.Type()), field))
		default:
			cloned := reflect.MakeMap(field.Type())
			for key, value := range field.Seq2() {
				cloned.SetMapIndex(key, value)
			}
			field.Set(cloned)
		}
	}
	return c
}

var defaults = sync.OnceValue(func() (c Config) {
	c.API.RuntimeConfig, c.API.FeatureGates = Switches{}, Switches{} // not nil, because callers add entries
	all := allFlags(c.Flags())
	for _, d := range declarations() {
		if text, ok := d["default"]; ok {
			if err := all.Lookup(d["name"]).Value.Set(text); err != nil {
				panic(fmt.Errorf("default of %s: %w", d["name"], err))
			}
		}
	}
	return c
})

// FlagsNamed returns the named flags, bound to c.
func (c *Config) FlagsNamed(names ...string) *pflag.FlagSet {
	fields, some := c.fields(), newFlagGroup("").Flags
	for _, d := range declarations() {
		if slices.Contains(names, d["name"]) {
			d.define(some, fields[d["name"]])
		}
	}
	return some
}

// Override copies the flags that were set on the command line to c. Call it after Load, because
// flags take precedence over the configuration file. The flags are parsed before Load, because
// --config is a flag.
func (c *Config) Override(given *pflag.FlagSet) (err error) {
	allFlags(c.Flags()).VisitAll(func(f *pflag.Flag) {
		if from := given.Lookup(f.Name); err == nil && from != nil && from.Changed {
			err = copyValue(f.Value, from.Value)
			c.noteDeprecated(f.Name)
		}
	})
	return err
}

func copyValue(to, from pflag.Value) error {
	// String formats a list in brackets, which Set would parse as part of an item.
	if list, ok := from.(pflag.SliceValue); ok {
		return to.(pflag.SliceValue).Replace(list.GetSlice())
	}
	return to.Set(from.String())
}

// flagValues returns the values of all flags. None is secret, because secrets are in files.
func (c Config) flagValues() map[string]string {
	values := map[string]string{}
	allFlags(c.Flags()).VisitAll(func(f *pflag.Flag) { values[f.Name] = f.Value.String() })
	return values
}

var helpGroups = []string{"main", "storage", "security", "limits", "compatibility"}

// PrintFlags writes the help text of all flags and feature gates.
func PrintFlags(w io.Writer, groups []FlagGroup) {
	for _, g := range groups {
		printGroup(w, g)
	}
	fmt.Fprintf(w, "\nFeature gates:\n      %s\n", strings.Join(features.Help(), "\n      "))
}

// PrintMainFlags writes the help text of the most common flags, by topic.
func PrintMainFlags(w io.Writer, groups []FlagGroup) {
	all := allFlags(groups)
	for _, title := range helpGroups {
		g := newFlagGroup(strings.ToUpper(title[:1]) + title[1:])
		for _, d := range declarations() {
			if d["group"] == title {
				g.Flags.AddFlag(all.Lookup(d["name"]))
			}
		}
		printGroup(w, g)
	}
	fmt.Fprint(w, "\n--help=all lists all flags and feature gates.\n")
}

func printGroup(w io.Writer, g FlagGroup) {
	fmt.Fprintf(w, "\n%s:\n%s", g.Title, g.Flags.FlagUsagesWrapped(100))
}
