package warning

import (
	"fmt"
	"strings"

	"github.com/troupe-api/troupe/kinds/tree"
)

// maxHostName is how long one part of a host name may be, in bytes.
const maxHostName = 63

// AppendHostName warns of the name of an object, a valid one, that is used in use and is no part of a host name.
func AppendHostName(texts []string, obj tree.Tree, use string) []string {
	name := obj.Object("metadata").String("name")
	var why []string
	if len(name) > maxHostName {
		why = append(why, fmt.Sprintf("must be no more than %d characters", maxHostName))
	}
	if strings.Contains(name, ".") {
		why = append(why, "must not contain dots")
	}
	if why == nil {
		return texts
	}
	return append(texts, fmt.Sprintf("metadata.name: this is used in %s, which can result in surprising behavior; a DNS label is recommended: %v", use, why))
}
