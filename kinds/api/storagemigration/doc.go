// Package storagemigration holds the rules of StorageVersionMigrations. Such an object requests
// that all objects of a resource be rewritten in the storage version. A controller rewrites them
// and reports its progress in the status.
package storagemigration
