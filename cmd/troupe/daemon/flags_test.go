package daemon

import (
	"os"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// The list of all flags in the documentation has an example of each, and no other; given
// together they are a configuration without faults.
func TestEveryFlagHasAnExample(t *testing.T) {
	data, err := os.ReadFile("../../../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(data), "\n## All flags\n")
	list, _, _ = strings.Cut(list, "\n## ")
	var examples []string
	for line := range strings.Lines(list) {
		if example, ok := strings.CutPrefix(line, "    --"); ok {
			examples = append(examples, "--"+strings.TrimSpace(example))
		}
	}
	c := Default()
	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	for _, g := range c.Flags() {
		flags.AddFlagSet(g.Flags)
	}
	if err := flags.Parse(examples); err != nil {
		t.Fatal(err)
	}
	flags.VisitAll(func(f *pflag.Flag) {
		if !f.Changed {
			t.Errorf("docs/configuration.md has no example of --%s among all flags", f.Name)
		}
	})
	c.Admission.Control = nil                                            // which stands alone
	c.CertificateSigning.CertFile, c.CertificateSigning.KeyFile = "", "" // as files for all signers do
	if err := c.Validate(); err != nil {
		t.Errorf("the examples together: %v", err)
	}
}
