package daemon

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"github.com/troupe-api/troupe/actors"
	"github.com/troupe-api/troupe/internal/must"
)

var update = flag.Bool("update", false, "write docs/settings.md")

const reference = "../../../docs/settings.md"

func TestDeclarations(t *testing.T) {
	c := Default()
	fields := c.fields()
	known := strings.Fields("name section help more group default short deprecated example since repeat was required values min max above with needs unsupported type neutral controller")
	seen := map[string]bool{}
	for _, d := range declarations() {
		for attribute := range d {
			if !slices.Contains(known, attribute) {
				t.Errorf("%s: unknown attribute %q", d["name"], attribute)
			}
		}
		if _, ok := fields[d["name"]]; ok == (d["unsupported"] != "") || seen[d["name"]] {
			t.Errorf("%s: has a field: %t, declared before: %t", d["name"], ok, seen[d["name"]])
		}
		seen[d["name"]] = true
		for _, attribute := range []string{"with", "needs"} {
			if _, ok := fields[d[attribute]]; !ok && d[attribute] != "" {
				t.Errorf("%s: unknown setting %q", d["name"], d[attribute])
			}
		}
		if d["group"] != "" && !slices.Contains(helpGroups, d["group"]) || d["help"] == "" && d["unsupported"] == "" {
			t.Errorf("%s: group %q, help %q", d["name"], d["group"], d["help"])
		}
	}
	for name := range fields {
		if !seen[name] {
			t.Errorf("%s is not declared", name)
		}
	}
}

// TestExamples checks that the examples of all settings are valid together.
func TestExamples(t *testing.T) {
	var examples []string
	for _, d := range declarations() {
		if d["example"] != "" {
			examples = append(examples, "--"+d["name"]+"="+d["example"])
		}
	}
	c := Default()
	must.Succeed(t, allFlags(c.Flags()).Parse(examples))
	if err := c.Validate(); err != nil {
		t.Error(err)
	}
}

func TestTuning(t *testing.T) {
	if have, want := Default().tuning(), actors.DefaultTuning(); !reflect.DeepEqual(have, want) {
		t.Errorf("got %+v, want %+v", have, want)
	}
}

func TestHelp(t *testing.T) {
	c := Default()
	var all strings.Builder
	PrintFlags(&all, c.Flags())
	for name := range c.fields() {
		if !strings.Contains(all.String(), "--"+name+" ") && name != "admission-control" {
			t.Errorf("the help text lacks %s", name)
		}
	}
}

// TestLimitsTable checks that the table of limits lists each maximum once, with its setting and
// default.
func TestLimitsTable(t *testing.T) {
	_, table, _ := strings.Cut(string(must.Get(os.ReadFile("../../../docs/operations.md"))(t)), "### All limits\n")
	table, _, _ = strings.Cut(table, "\n## ")
	declared := map[string]declaration{}
	for _, d := range declarations() {
		declared[d["name"]] = d
	}
	setting := regexp.MustCompile("`([a-z0-9-]+)`")
	checked := 0
	named := map[string]int{}
	for row := range strings.Lines(table) {
		cells := strings.Split(row, "|")
		if len(cells) < 6 {
			continue
		}
		for _, match := range setting.FindAllStringSubmatch(cells[2], -1) {
			named[match[1]]++
			d, ok := declared[match[1]]
			if !ok {
				t.Errorf("no setting %s:%s", match[1], cells[1])
				continue
			}
			if want := inProse(d["default"]); want != "" {
				checked++
				if !strings.Contains(" "+strings.NewReplacer(",", "", ";", " ").Replace(cells[3])+" ", " "+want+" ") {
					t.Errorf("%s is %s by default, but the table has %s", match[1], want, cells[3])
				}
			}
		}
	}
	for name, d := range declared {
		limit := strings.HasPrefix(name, "max-") || strings.HasPrefix(name, "http2-max-")
		if limit && d["unsupported"] == "" && d["deprecated"] == "" && named[name] != 1 {
			t.Errorf("the table has %s %d times", name, named[name])
		}
	}
	if checked < 15 {
		t.Errorf("only %d defaults were checked", checked)
	}
}

// inProse formats a number or a size as in the docs, without commas. It returns "" for other
// values.
func inProse(value string) string {
	for unit, name := range map[string]string{"Ki": " KiB", "Mi": " MiB", "Gi": " GiB"} {
		if number, ok := strings.CutSuffix(value, unit); ok {
			if value == "1536Ki" {
				return "1.5 MiB"
			}
			return number + name
		}
	}
	if n, err := strconv.Atoi(value); err == nil && n > 0 {
		return value
	}
	return ""
}

func TestReference(t *testing.T) {
	want := referencePage()
	if *update {
		must.Succeed(t, os.WriteFile(reference, []byte(want), 0o644))
	}
	if have, err := os.ReadFile(reference); err != nil || string(have) != want {
		t.Errorf("docs/settings.md is out of date (%v): go test ./cmd/troupe/daemon -run TestReference -update", err)
	}
}

func referencePage() string {
	var b strings.Builder
	b.WriteString(`# Settings

This page lists every setting of ` + "`troupe serve`" + `. It is generated from the declarations in
[settings.ini](../cmd/troupe/daemon/settings.ini). The name of a setting is its flag and its key in
the [configuration file](configuration.md). (0.2) marks settings that release 0.2 added.
`)
	c := Default()
	flags := allFlags(c.Flags())
	escape := strings.NewReplacer("|", `\|`, "\n", " ").Replace
	section, deprecated := "", ""
	for _, d := range declarations() {
		if d["deprecated"] != "" {
			deprecated += fmt.Sprintf("| `%s` | %s |\n", d["name"], d["deprecated"])
			continue
		}
		if d["section"] != section {
			section = d["section"]
			head := "| Setting | Default | Meaning |\n|---|---|---|\n"
			if d["unsupported"] != "" {
				head = "`troupe serve` rejects these flags of kube-apiserver and kube-controller-manager and prints the\n" +
					"reason. The [stand-in for envtest](testing.md#suites-of-envtest) accepts those of kube-apiserver and\nlogs them.\n\n| Flag | Reason |\n|---|---|\n"
			}
			fmt.Fprintf(&b, "\n## %s\n\n%s", section, head)
		}
		if d["unsupported"] != "" {
			fmt.Fprintf(&b, "| `--%s` | %s |\n", d["name"], d["unsupported"])
			continue
		}
		text := strings.TrimSpace(strings.ReplaceAll(strings.ReplaceAll(escape(d["help"]), "<", "&lt;"), "*", `\*`) + " " + escape(d["more"]))
		if d["example"] != "" {
			text += " Example: `" + escape(d["example"]) + "`."
		}
		if d["since"] != "" {
			text += " (" + d["since"] + ")"
		}
		value := "–"
		if f := flags.Lookup(d["name"]); f.DefValue != "" && f.DefValue != "[]" {
			value = "`" + cmp.Or(d["default"], f.DefValue) + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", d["name"], escape(value), text)
	}
	return b.String() + "\n## Deprecated settings\n\nThese work for one more release, with a warning in the log. So do the keys of 0.2, such as\n`serving.maxWatches`. No metric is deprecated.\n\n| Setting | Instead |\n|---|---|\n" + deprecated
}

// TestDeprecated checks that each deprecated setting works in the file and as a flag, with a
// warning that names the replacement.
func TestDeprecated(t *testing.T) {
	found := 0
	for _, d := range declarations() {
		if d["deprecated"] == "" {
			continue
		}
		found++
		file, flags := Default(), Default()
		given := allFlags(flags.Flags())
		value := cmp.Or(d["default"], "AlwaysAdmit")
		must.Succeed(t, given.Set(d["name"], value))
		must.Succeed(t, flags.Override(given))
		text := value
		if d["default"] == "" {
			text = "[" + value + "]"
		}
		must.Succeed(t, file.Read([]byte(d["name"]+": "+text)))
		for _, c := range []Config{file, flags} {
			var log strings.Builder
			c.Ephemeral = true
			must.Get(New(c, &log))(t)
			if got := log.String(); !strings.Contains(got, "deprecated setting") || !strings.Contains(got, "name="+d["name"]) || !strings.Contains(got, d["deprecated"]) {
				t.Errorf("%s is deprecated, but the log has %q", d["name"], got)
			}
		}
	}
	if found == 0 {
		t.Error("no setting is deprecated")
	}
}

func TestKeysOfEarlierReleases(t *testing.T) {
	c := Default()
	must.Succeed(t, c.Read([]byte("dataDir: d\nserving: {maxWatches: 7}\naudit: {log: {batch: {maxSize: 8}}}\napi: {featureGates: {WatchList: false}}\ncontrollers: x")))
	want := Default()
	want.DataDir, want.Serving.MaxWatches, want.Audit.Log.Batch.MaxSize = "d", 7, 8
	want.API.FeatureGates, want.Controllers = Switches{"WatchList": false}, "x"
	renamed := map[string]string{}
	for _, names := range c.renamed {
		renamed[names[0]] = names[1]
	}
	if want := map[string]string{"dataDir": "data-dir", "serving.maxWatches": "max-watches", "audit.log.batch.maxSize": "audit-log-batch-max-size", "api.featureGates": "feature-gates"}; !maps.Equal(renamed, want) {
		t.Errorf("renamed %v, want %v", renamed, want)
	}
	if c.renamed = nil; !reflect.DeepEqual(c, want) {
		t.Errorf("got %+v, want %+v", c, want)
	}
}

func TestReadIsStrict(t *testing.T) {
	tests := []struct{ text, fault string }{
		{"", ""},
		{"# nothing\n", ""},
		{"naming: platform\nsecure-port: 0", ""},
		{"namings: platform", `unknown key "namings"`},
		{"Naming: platform", `unknown key "Naming"`},
		{"serving: {port: 1}", `unknown key "serving.port"`},
		{"a: 1\nserving: {b: 1}", `unknown key "serving.b"`},
		{"a: 1\nserving: {b: 1}", `unknown key "a"`},
		{"naming: platform\nnaming: platform", "naming"},
		{"data-dir: a\ndataDir: b", "data-dir: duplicate key"},
		{"serving: 1", `unknown key "serving"`},
		{"secure-port:", "secure-port: has no value"},
		{"- a", "settings: must be a map"},
		{"secure-port: x", `secure-port: "x" is not a whole number`},
		{"profiling: 1", "profiling: 1 is not true or false"},
		{"naming: [a]", `naming: ["a"] is no text`},
		{"authorization-mode: RBAC", `authorization-mode: "RBAC" is not a list of strings`},
		{"request-timeout: 60", "request-timeout: 60 is not a duration"},
		{"request-timeout: 1 hour\nsecure-port: x", `request-timeout: "1 hour" is not a duration`},
		{"request-timeout: 1 hour\nsecure-port: x", `secure-port: "x" is not a whole number`},
		{"journal-segment-bytes: 64MB", `journal-segment-bytes: "64MB" is not a size`},
		{"journal-segment-bytes: -1", "not a size"},
		{"journal-segment-bytes: 9999999999Gi", "not a size"},
		{"a: [", "yaml"},
	}
	for _, test := range tests {
		c := Default()
		err := c.Read([]byte(test.text))
		switch {
		case test.fault == "":
			if err != nil {
				t.Errorf("%q: %v", test.text, err)
			}
		case err == nil || !strings.Contains(err.Error(), test.fault):
			t.Errorf("%q: got error %v, want one with %q", test.text, err, test.fault)
		}
	}
}

func TestReadKeepsOtherSettings(t *testing.T) {
	c := Default()
	must.Succeed(t, c.Read([]byte("request-timeout: 5s\njournal-segment-bytes: 2Mi\nwatch-history-bytes: 7")))
	want := Default()
	want.Serving.RequestTimeout = Duration(5 * time.Second)
	want.Journal.SegmentBytes = 2 << 20
	want.Watches.HistoryBytes = 7
	if !reflect.DeepEqual(c, want) {
		t.Errorf("got %+v, want %+v", c, want)
	}
}

func TestValidateReportsEveryFaultAtOnce(t *testing.T) {
	if err := Default().Validate(); err != nil {
		t.Fatalf("the defaults: %v", err)
	}
	// A zero or negative number violates every declared constraint except max.
	var c Config
	var want []string
	fields := c.fields()
	for _, d := range declarations() {
		field, ok := fields[d["name"]]
		if !ok {
			continue
		}
		bad := d["required"] != "" || d["values"] != "" && field.Kind() == reflect.String || d["min"] != "" || d["above"] != ""
		if field.CanInt() {
			field.SetInt(-1)
		}
		if d["with"] != "" {
			bad = true
			field.SetString("x")
		}
		if bad {
			want = append(want, d["name"])
		}
	}
	c.Encryption.AutomaticReload = true
	err := c.Validate()
	if err == nil {
		t.Fatal("an empty config is valid")
	}
	faulty := map[string]bool{}
	for line := range strings.Lines(err.Error()) {
		name, _, _ := strings.Cut(line, ": ")
		faulty[name] = true
	}
	for _, name := range want {
		if !faulty[name] && fields[name].Kind() != reflect.Float64 {
			t.Errorf("no fault of %s", name)
		}
	}
	for _, name := range []string{"bind-address", "naming", "encryption-provider-config-automatic-reload", "service-cluster-ip-range", "tls-min-version", "tls-reload-period", "authorization-mode"} {
		if !faulty[name] {
			t.Errorf("no fault of %s", name)
		}
	}
}

func TestFlagsOverrideTheFile(t *testing.T) {
	flags := Default()
	given := pflag.NewFlagSet("test", pflag.ContinueOnError)
	for _, g := range flags.Flags() {
		given.AddFlagSet(g.Flags)
	}
	must.Succeed(t, given.Parse([]string{"--secure-port", "1", "--request-timeout=9s", "-v", "3", "--anonymous-auth=false", "--naming=platform",
		"--disable-admission-plugins=CertificateSigning,TaintNodesByCondition", "--disable-admission-plugins=CertificateApproval"}))
	c := Default()
	must.Succeed(t, c.Read([]byte("naming: other\nsecure-port: 2\nrequest-timeout: 8s\nbind-address: 10.0.0.1\nanonymous-auth: true\ndisable-admission-plugins: [StorageObjectInUseProtection]")))
	must.Succeed(t, c.Override(given))
	want := Default()
	want.Serving.SecurePort = 1
	want.Serving.RequestTimeout = Duration(9 * time.Second)
	want.Serving.BindAddress = "10.0.0.1"
	want.Authentication.Anonymous = false
	want.Admission.Disable = []string{"CertificateSigning", "TaintNodesByCondition", "CertificateApproval"}
	want.Logging.Verbosity = 3
	if !reflect.DeepEqual(c, want) {
		t.Errorf("got %+v, want %+v", c, want)
	}
}

// FuzzSettings checks that a configuration file is either rejected without effect, or has the same
// effect as flags with its values.
func FuzzSettings(f *testing.F) {
	for _, s := range []string{"", "secure-port: 1", "request-timeout: 9s\nmax-object-bytes: 1Mi", "feature-gates: {A: true}", "disable-admission-plugins: [a, 'b,c']", "naming: ''", "serving: {maxWatches: 3}", "v: 1e1", "request-timeout: -1", "secure-port: 1\nsecure-port: 2"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c := Default()
		if c.Read([]byte(text)) != nil {
			if !reflect.DeepEqual(c, Default()) {
				t.Errorf("%q is rejected with an effect", text)
			}
			return
		}
		_ = c.Validate()
		again := Default()
		flags := allFlags(again.Flags())
		allFlags(c.Flags()).VisitAll(func(from *pflag.Flag) {
			if err := copyValue(flags.Lookup(from.Name).Value, from.Value); err != nil {
				t.Errorf("%q: %s: %v", text, from.Name, err)
			}
		})
		if got, want := again.flagValues(), c.flagValues(); !maps.Equal(got, want) {
			t.Errorf("%q: got %v, want %v", text, got, want)
		}
	})
}
