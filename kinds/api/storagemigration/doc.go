// Package storagemigration holds the rules of StorageVersionMigrations. Such an object requests
// that all objects of a resource are rewritten in the storage version; a controller does that and
// reports progress in the status.
package storagemigration
