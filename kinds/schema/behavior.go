package schema

// A Behavior is the part of a kind that its declaration does not express.
type Behavior struct {
	Name     string   // "group/version/Kind" in platform form; "" is the core group
	Strategy Strategy // nil: the default
	Views    Views    // how subresources read and write the object
}

// Views are views by subresource name. Status and declared scales have default views.
type Views map[string]View
