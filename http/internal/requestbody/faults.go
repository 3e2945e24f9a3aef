package requestbody

import (
	"fmt"
	"strings"

	"github.com/troupe-api/troupe/http/internal/apierrors"
	"github.com/troupe-api/troupe/kinds/codec"
	"github.com/troupe-api/troupe/kinds/request"
	"github.com/troupe-api/troupe/kinds/schema"
)

// CheckFields returns warnings about unknown and duplicate fields, or an error if validation is
// strict.
func CheckFields(k *schema.Kind, faults []codec.FieldFault, v request.FieldValidation) ([]string, error) {
	if len(faults) == 0 || v == request.Ignore {
		return nil, nil
	}
	refused := codec.Refused(faults)
	strict := v == request.Strict && len(refused) > 0
	if strict {
		faults = refused
	}
	texts := make([]string, len(faults))
	for i, f := range faults {
		texts[i] = f.String()
	}
	if strict {
		return nil, apierrors.BadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: strict decoding error: %s",
			k.Kind, k.Version, k.Kind, strings.Join(texts, ", ")))
	}
	return splitYAMLFaults(texts), nil
}

// yamlFaultsPrefix precedes the individual errors in the YAML parser's error text, one per line.
const yamlFaultsPrefix = "yaml: unmarshal errors:\n"

func splitYAMLFaults(texts []string) (single []string) {
	for _, text := range texts {
		lines, ok := strings.CutPrefix(text, yamlFaultsPrefix)
		if !ok {
			single = append(single, text)
			continue
		}
		for line := range strings.SplitSeq(lines, "\n") {
			single = append(single, strings.TrimSpace(line))
		}
	}
	return single
}
