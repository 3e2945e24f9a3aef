package authentication

import (
	"github.com/troupe-api/troupe/kinds/catalog/internal/family"
)

// Kinds lists the kinds of authentication with their strategies.
func Kinds() []family.Kind {
	return []family.Kind{
		{Name: "authentication.platform.io/v1/TokenRequest", Strategy: tokenRequestStrategy{}},
	}
}
