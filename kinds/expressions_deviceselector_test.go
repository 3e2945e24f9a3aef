package kinds_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/troupe-api/troupe/kinds/expressions"
	"github.com/troupe-api/troupe/kinds/meta"
)

func TestDeviceSelectors(t *testing.T) {
	devices := expressions.NewDeviceSelectors(meta.Platform, false)
	for text, want := range map[string]string{
		`device.driver == "gpu.example.com"`: "",
		`device.attributes["gpu.example.com"].model == "x" && device.attributes["a.b"].memory > 3`:                           "",
		`device.attributes["gpu.example.com"].shared`:                                                                        "",
		`device.attributes["a.b"].version.isGreaterThan(semver("1.0.0"))`:                                                    "",
		`device.capacity["a.b"].memory.compareTo(quantity("10Gi")) >= 0`:                                                     "",
		`cel.bind(gpu, device.attributes["a.b"], gpu.x && gpu.y)`:                                                            "",
		`"a.b" in device.attributes && device.attributes["a.b"].exists(k, k == "x")`:                                         "",
		`device.attributes.all(d, device.attributes.all(e, device.attributes.all(f, d != e || e != f || "a" + d != f + e)))`: "too complex, exceeds cost limit",
		`A b!`:                            "Syntax error",
		`self.driver == "x"`:              "undeclared reference to 'self'",
		`device.name == "x"`:              "undefined field 'name'",
		`device.allowMultipleAllocations`: "undefined field 'allowMultipleAllocations'",
		`1`:                               "must evaluate to bool or the unknown type, not int",
		`device.driver`:                   "must evaluate to bool or the unknown type, not string",
		`device.driver.matches("(")`:      "invalid matches argument",
	} {
		err := devices.Check(text)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
		if errors.Is(err, expressions.ErrTooComplex) != strings.HasPrefix(want, "too complex") {
			t.Errorf("%s: %v", text, err)
		}
	}
	if err := expressions.NewDeviceSelectors(meta.Platform, true).Check(`device.allowMultipleAllocations`); err != nil {
		t.Error(err)
	}
}
