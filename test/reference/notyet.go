package reference

// customKinds is what the cases of notYet wait for.
const customKinds = "custom kinds are not served yet"

// notYet lists the cases that need something that is not served yet, and what it is.
var notYet = map[string]string{
	"crd/bad-cel":          customKinds,
	"crd/use":              customKinds,
	"crd/status":           customKinds,
	"crd/protobuf-refused": customKinds,
	"crd/transition-rule":  customKinds,
	"crd/versions":         customKinds,
	"crd/delete-removes":   customKinds,
}
