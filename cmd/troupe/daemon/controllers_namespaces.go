package daemon

// Namespaces configures the deletion of namespaces.
type Namespaces struct {
	// DeletionGracePeriod is the delay before a terminating namespace is emptied.
	DeletionGracePeriod Duration `flag:"namespace-deletion-grace-period"`
}
