package codec

import (
	"sigs.k8s.io/yaml"

	"github.com/troupe-api/troupe/kinds/tree"
)

// DecodeConfigFile decodes a configuration file in YAML or JSON. Duplicate keys are an error. It
// returns nil if the file does not contain an object.
func DecodeConfigFile(text []byte) (tree.Tree, error) {
	json, err := yaml.YAMLToJSONStrict(text)
	if err != nil {
		return nil, err
	}
	v, _, err := DecodeAny(json)
	t, _ := v.(tree.Tree)
	return t, err
}
