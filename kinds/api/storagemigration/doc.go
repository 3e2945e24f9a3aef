// Package storagemigration validates and defaults StorageVersionMigrations, which request that a
// controller rewrite all objects of a resource in the storage version.
package storagemigration
