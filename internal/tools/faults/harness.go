package main

import (
	"fmt"
	"strings"
)

// A harness is a test that puts the whole of pushbox, or of its store, to work and
// checks the outcome against the promises.
type harness struct {
	name string // by which a fault names it
	row  string // its name in the documentation
	pkg  string // the directory of its package below the root
	test string // its function, and its subtests behind slashes
	work string // the row of env.Works that sets its length, without its prefix; empty if none does
}

func (h harness) pattern() string {
	function, _, _ := strings.Cut(h.test, "/")
	return "^" + function + "$" + h.test[len(function):]
}

// harnesses maps the names that a fault may use to tests.
func harnesses() map[string]harness {
	return map[string]harness{
		"clear":        {row: "End-to-end encryption", pkg: "internal/cli", test: "TestNothingOfAnEncryptedPushIsSentInClear"},
		"clock":        {row: "Clock", pkg: "store", test: "TestNoTraceOfTheClockBringsAnythingBackOrEndsItTooSoon", work: "CLOCK_TRACES"},
		"damage":       {row: "Damage", pkg: "store/harness/damage", test: "TestADamagedFileDoesNoHarm", work: "DAMAGE_FLIPS"},
		"disk-errors":  {row: "I/O errors", pkg: "store/harness/power", test: "TestEveryOperationOfTheDiskMayFail", work: "IO_PERCENT"},
		"golden":       {row: "Golden databases", pkg: "store/harness/golden", test: "TestDatabasesOfEverySchemaOpenWithAllTheirContent"},
		"erasure":      {row: "Erasure", pkg: "store/bolt", test: "TestErasingBesideWritersAndReadersHarmsNothing", work: "ERASE_ROUNDS"},
		"file-kill":    {row: "Process kill", pkg: "internal/harness/kill", test: "TestAKillLosesNoFileAndLeavesNone", work: "FILE_KILLS"},
		"first-boot":   {row: "First boot", pkg: "internal/instance", test: "TestAPowerCutDuringTheFirstStartDoesNoHarm", work: "BOOT_PERCENT"},
		"forgery":      {row: "Forgery", pkg: "store/harness/forgery", test: "TestAForgeryIsNeverBelieved", work: "FORGERIES"},
		"full-disk":    {row: "Full disk", pkg: "internal/harness/disk", test: "TestAFullDiskLosesNothing", work: "DISK_SIZES"},
		"journal":      {row: "Journal", pkg: "store/bolt", test: "TestReadersSeeEveryViewThatWasAnswered", work: "JOURNAL_VIEWS"},
		"key-rotation": {row: "Key rotation", pkg: "internal/instance", test: "TestAPowerCutDuringARotationOfTheKeyDoesNoHarm", work: "BOOT_PERCENT"},
		"kill":         {row: "Process kill", pkg: "internal/harness/kill", test: "TestAKillLosesNothing", work: "KILLS"},
		"linear":       {row: "Linearizability", pkg: "server/harness/linear", test: "TestMixedOperationsAreLinearizable", work: "LINEAR_OPS"},
		"mail":         {row: "Mail", pkg: "internal/harness/kill", test: "TestEachAcknowledgedCreateHasItsMailSent", work: "MAIL_KILLS"},
		"model":        {row: "Model", pkg: "store/harness/model", test: "TestTheStoreAgreesWithAModel/bbolt", work: "MODEL_SEQUENCES"},
		"power-loss":   {row: "Power loss", pkg: "store/harness/power", test: "TestAPowerCutLosesNothingThatWasAcknowledged", work: "POWER_IMAGES"},
		"proxies":      {row: "Proxies", pkg: "internal/harness/proxy", test: "TestPushboxBehindProxies", work: "PROXY_MIB"},
		"race":         {row: "Race", pkg: "store", test: "TestNoMoreIsDeliveredThanTheLimitHoweverManyAsk", work: "RACE_PUSHES"},
		"renewal":      {row: "Key rotation", pkg: "store", test: "TestARotationSealsEverythingAnewAndDropsTheOldKeys"},
		"renewal-wait": {row: "Key rotation", pkg: "store", test: "TestARotationWaitsForWhatIsSealedAndNotYetKept"},
		"requests":     {row: "Requests", pkg: "store", test: "TestARequestEnds"},
		"residue":      {row: "Residue", pkg: "store/harness/residue", test: "TestNothingIsLeftFiveSecondsAfterAnEnd", work: "RESIDUE_PUSHES"},
		"next-start":   {row: "Residue", pkg: "store/harness/residue", test: "TestNothingIsLeftAfterAStopAndAfterTheNextStart"},
		"restore":      {row: "Backup", pkg: "internal/harness/kill", test: "TestNoLinkDeliversMoreThanItsLimitAcrossARestore", work: "RESTORE_KILLS"},
		"second-boot":  {row: "First boot", pkg: "internal/instance", test: "TestWhatASecondStartAcknowledgesOutlastsAPowerCut"},
		"servers":      {row: "Several servers", pkg: "store/postgres", test: "TestServersCountViewsTogether"},
		"slow-clients": {row: "Slow clients", pkg: "internal/harness/slow", test: "TestSlowClientsKeepNoOtherClientOut", work: "SLOW_CLIENTS"},
		"soak":         {row: "Soak", pkg: "internal/harness/soak", test: "TestWhatALoadTakesComesBack", work: "SOAK"},
		"unconfirmed":  {row: "Mail", pkg: "server/pages", test: "TestASignedUpAccountSendsMailOnceItsAddressIsConfirmed"},
		"upgrade":      {row: "Upgrade", pkg: "internal/instance", test: "TestAPowerCutDuringAnUpgradeDoesNoHarm", work: "BOOT_PERCENT"},
		"webhooks":     {row: "Webhooks", pkg: "internal/harness/kill", test: "TestEachCountedViewIsReportedAndNoOther", work: "HOOK_KILLS"},
	}
}

// drills is the package of the drills, whose subtests are named after advisories.
const drills = "server/harness/drill"

// families are those that a fault names by two words: the family, and an ordinary test of
// its package or a drill.
func families() map[string]harness {
	return map[string]harness{
		"bolt":     {row: "bbolt", pkg: "store/bolt"},
		"cold":     {row: "Both engines", pkg: "store/cold"},
		"drill":    {row: "Drills", pkg: drills, test: "TestDrills/"},
		"postgres": {row: "PostgreSQL", pkg: "store/postgres"},
		"shared":   {row: "Several servers", pkg: "store"},
		"store":    {row: "Store", pkg: "store"},
	}
}

func findHarness(name string) (harness, error) {
	h, found := harnesses()[name]
	words := strings.Fields(name)
	switch len(words) {
	case 2:
		h, found = families()[words[0]]
		h.test += words[1]
	case 3:
		h, found = harness{row: "Fuzz", pkg: words[1], test: words[2]}, words[0] == "fuzz"
	}
	if !found {
		return harness{}, fmt.Errorf("there is no harness %q", name)
	}
	h.name = name
	return h, nil
}
