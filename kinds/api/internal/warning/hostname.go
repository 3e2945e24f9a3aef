package warning

import (
	"fmt"
	"strings"

	"github.com/troupe-api/troupe/kinds/tree"
)

// maxHostName bounds one label of a host name, in bytes.
const maxHostName = 63

// AppendHostName warns about a valid object name that cannot be a host name label. use names its
// use in the text.
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
