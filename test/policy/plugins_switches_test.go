package policy

import (
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/cmd/troupe/daemon"
)

// TestUnknownPlugins checks that unknown plugin names and contradictory settings are rejected
// before startup.
func TestUnknownPlugins(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		admission daemon.Admission
		faults    []string
	}{
		{daemon.Admission{Enable: []string{"NodeRestriction", "Nope"}}, []string{`enable-admission-plugins: "Nope": must be one of AlwaysAdmit, `, "ValidatingAdmissionWebhook"}},
		{daemon.Admission{Disable: []string{"*"}}, []string{`disable-admission-plugins: "*": must be one of `}},
		{daemon.Admission{Enable: []string{"Priority"}, Disable: []string{"Priority"}}, []string{`"Priority" is both enabled and disabled`}},
		{daemon.Admission{Control: []string{"priority"}}, []string{`admission-control: "priority": must be one of `}},
		{daemon.Admission{Control: []string{"Priority"}, Enable: []string{"Priority"}}, []string{"mutually exclusive"}},
	} {
		config := daemon.Default()
		config.Admission = c.admission
		_, err := daemon.New(config, io.Discard)
		for _, fault := range c.faults {
			if err == nil || !strings.Contains(err.Error(), fault) {
				t.Errorf("%+v: got %v, want %s", c.admission, err, fault)
			}
		}
	}
}

// TestSwitches checks that a plugin has no effect if it is disabled, or if --admission-control is
// set without it. The log warns once about each enabled no-op plugin, and about admission resources
// of disabled plugins.
func TestSwitches(t *testing.T) {
	t.Parallel()
	const classes, finalizer = `,"storageClassName":"x"`, "platform.io/pvc-protection"
	for _, test := range []struct {
		admission daemon.Admission
		protects  bool
		logged    []string // names in the warnings
	}{
		{daemon.Admission{}, true, nil},
		{daemon.Admission{Enable: []string{"AlwaysAdmit"}}, true, []string{"AlwaysAdmit"}},
		{daemon.Admission{Disable: []string{"StorageObjectInUseProtection"}}, false, nil},
		{daemon.Admission{Control: []string{"StorageObjectInUseProtection"}}, true, []string{"mutatingwebhookconfigurations", "validatingwebhookconfigurations"}},
		{daemon.Admission{Control: []string{"DefaultStorageClass"}}, false, []string{"mutatingwebhookconfigurations", "validatingwebhookconfigurations"}},
	} {
		c := serveUsers(t, func(c *daemon.Config, _ string) { c.Admission = test.admission })
		finalizers, _ := c.must(claims, claim("a", classes)).Metadata()["finalizers"].([]any)
		if slices.Contains(finalizers, any(finalizer)) != test.protects {
			t.Errorf("%+v: finalizers %v", test.admission, finalizers)
		}
		warnings := slices.DeleteFunc(strings.Split(c.log.String(), "\n"), func(line string) bool { return !strings.Contains(line, "an admission plugin") })
		if len(warnings) != len(test.logged) {
			t.Errorf("%+v: logged %q, want %q", test.admission, warnings, test.logged)
		}
		for _, name := range test.logged {
			if !slices.ContainsFunc(warnings, func(line string) bool { return strings.Contains(line, name) }) {
				t.Errorf("%+v: logged %q, want %q", test.admission, warnings, test.logged)
			}
		}
	}
}

// TestMissingConfiguration checks that the server does not start if EventRateLimit is enabled
// without limits.
func TestMissingConfiguration(t *testing.T) {
	t.Parallel()
	config := daemon.Default()
	config.DataDir, config.Serving.SecurePort, config.Admission.Enable = t.TempDir(), 0, []string{"EventRateLimit"}
	d, err := daemon.New(config, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Start(); err == nil || !strings.Contains(err.Error(), "admission configuration of EventRateLimit: limits: must not be empty") {
		t.Errorf("got %v", err)
	}
}
