package tree

// Name returns the name of an object.
func (t Tree) Name() string { return t.Object("metadata").String("name") }

// Annotations returns the annotations of an object.
func (t Tree) Annotations() Tree { return t.Object("metadata", "annotations") }

// Labels returns the labels of an object.
func (t Tree) Labels() Tree { return t.Object("metadata", "labels") }
