package warning

import (
	"fmt"

	"github.com/troupe-api/troupe/kinds/schema"
)

// Deprecation returns the warning about a deprecated version, in kube-apiserver's wording.
func Deprecation(k *schema.Kind) string {
	d := k.Deprecation
	if d.Warning != "" {
		return d.Warning
	}
	text := k.APIVersion() + " " + k.Kind + " is deprecated"
	if d.Since != "" {
		text += " in v" + d.Since + "+"
	}
	if d.Removed != "" {
		text += fmt.Sprintf(", unavailable in v%s+", d.Removed)
	}
	if d.Replacement != "" {
		text += "; use " + d.Replacement
	}
	return text
}
