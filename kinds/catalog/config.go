package catalog

import (
	"fmt"
	"slices"
	"strings"

	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/meta"
	"github.com/troupe-api/troupe/kinds/rules"
	"github.com/troupe-api/troupe/kinds/schema"
	"github.com/troupe-api/troupe/kinds/tree"
)

func (c *Catalog) config(name string) *schema.Message { return c.Message("apiserver.v1." + name) }

// DecodeConfig decodes, defaults and validates a configuration file in YAML or JSON. name is the
// name of its message in kinds/api/apiserver. Unknown or duplicate fields are errors.
func (c *Catalog) DecodeConfig(name string, text []byte) (tree.Tree, error) {
	m := c.config(name)
	t, unknown, err := codec.DecodeYAML(m, text)
	if err != nil {
		return nil, err
	}
	version, kind := t.String("apiVersion"), t.String("kind")
	if m.HasTypeMeta && !slices.Contains(m.Config, version+" "+kind) {
		return nil, fmt.Errorf("no kind %q is registered for version %q: must be one of %q", kind, version, m.Config)
	}
	if len(unknown) > 0 {
		var texts []string
		for _, fault := range unknown {
			texts = append(texts, fault.String())
		}
		return nil, fmt.Errorf("strict decoding error: %s", strings.Join(texts, ", "))
	}
	rules.DefaultValue(m.Values, t)
	return t, c.ValidateConfig(name, t)
}

// ValidateConfig checks a configuration that was not read by DecodeConfig, such as one built
// from flags.
func (c *Catalog) ValidateConfig(name string, t tree.Tree) error {
	var faults schema.Faults
	m := c.config(name)
	if m.Values != nil {
		rules.ValidateValue(m.Values, t, nil, &faults)
	}
	schema.Run(m.Checks().Validate, t, nil, "", &faults)
	if len(faults.List) > 0 {
		return meta.NewInvalid(meta.GroupKind{Kind: name}, "", faults.List)
	}
	return nil
}
