package resource

import (
	"fmt"
	"strings"

	"github.com/troupe-api/troupe/kinds/tree"
)

// Warnings warns of a driver whose name has upper-case letters.
//
// It is only a warning, since such drivers exist; drivers are compared by their name as text.
func (resourceSliceStrategy) Warnings(obj, _ tree.Tree) []string {
	driver := obj.Object("spec").String("driver")
	if driver == strings.ToLower(driver) {
		return nil
	}
	return []string{fmt.Sprintf("spec.driver: driver names should be lowercase; %q contains uppercase characters", driver)}
}
