// Package storagemigration holds the rules of StorageVersionMigrations.
//
// A StorageVersionMigration asks for all objects of a resource to be written again, so that none of them is stored in
// a former version. A controller does that, and tells how far it is in the status.
package storagemigration
