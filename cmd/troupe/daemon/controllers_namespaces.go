package daemon

// Namespaces is how they are deleted.
type Namespaces struct {
	// DeletionGracePeriod is how long a namespace that is being deleted is left as it is before it is emptied.
	DeletionGracePeriod Duration `flag:"namespace-deletion-grace-period"`
}
