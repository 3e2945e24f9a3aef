package schema

// A Behavior defines the part of a kind that declarations cannot express.
type Behavior struct {
	Name     string   // "group/version/Kind" in platform form; "" is the core group
	Strategy Strategy // nil for the default
	Views    Views    // how subresources read and write the object
}

// Views maps subresource names to their views. Status and declared scales have default views.
type Views map[string]View
