package catalog

import (
	"fmt"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/schema"
)

// RuntimeConfig enables and disables API versions and resources. Its keys, from lowest to highest
// precedence:
//
//	api/all                       everything
//	api/ga, api/beta, api/alpha   versions by stability
//	<group>/<version>             a version; the core group is "api/v1", or "v1" without a resource
//	<group>/<version>/<resource>  a resource
//
// Group names depend on the naming profile. Objects of a disabled resource remain stored. Kinds
// that no key matches are served unless disabled by default.
type RuntimeConfig map[string]bool

// runtimeConfigKeys returns the keys that apply to k, in order of increasing precedence.
func runtimeConfigKeys(k *schema.Kind) []string {
	keys := []string{"api/all"}
	if class := meta.Stability(k.Version); class != "" {
		keys = append(keys, "api/"+class)
	}
	if k.Group == "" {
		keys = append(keys, k.Version, "api/"+k.Version)
	} else {
		keys = append(keys, k.APIVersion())
	}
	return append(keys, keys[len(keys)-1]+"/"+k.Resource)
}

func (r RuntimeConfig) enabled(k *schema.Kind) bool {
	on := !k.OffByDefault
	if len(r) == 0 {
		return on
	}
	for _, key := range runtimeConfigKeys(k) {
		if setting, ok := r[key]; ok {
			on = setting
		}
	}
	return on
}

// Unknown returns the keys that match no kind of the naming profile, served or not.
func (r RuntimeConfig) Unknown(n *meta.Naming) ([]string, error) {
	b, err := builtInsFor(n, nil)
	if err != nil {
		return nil, err
	}
	return r.unknown(b.set.all), nil
}

func (r RuntimeConfig) check(kinds []*schema.Kind) error {
	unknown := r.unknown(kinds)
	if len(unknown) == 0 {
		return nil
	}
	return fmt.Errorf("runtime-config: no such version or resource: %s", strings.Join(unknown, ", "))
}

func (r RuntimeConfig) unknown(kinds []*schema.Kind) []string {
	if len(r) == 0 {
		return nil
	}
	known := map[string]bool{"api/ga": true, "api/beta": true, "api/alpha": true}
	for _, k := range kinds {
		for _, key := range runtimeConfigKeys(k) {
			known[key] = true
		}
	}
	var unknown []string
	for key := range r {
		if !known[key] {
			unknown = append(unknown, key)
		}
	}
	slices.Sort(unknown)
	return unknown
}
