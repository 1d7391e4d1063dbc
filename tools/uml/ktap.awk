# SPDX-License-Identifier: GPL-2.0
# Reads the log of a kernel that ran KUnit, prints one line per case, then the sum.
# A line that matches "complaints" counts as a failure too.

function report(ok, name, why) {
	print (ok ? "ok " : "not ok ") name (why != "" ? " - " why : "")
	ok ? passed++ : failed++
}

{ sub(/\r$/, ""); sub(/^\[ *[0-9]+\.[0-9]+\] /, "") }

/^1\.\.[0-9]+$/ { planned = substr($0, 4) + 0 }
/^    # Subtest: / { suite = $3; why = ""; bad_cases = 0; next }

# the reason of a failure is the line that says so and what follows it, up to two lines
/(EXPECTATION|ASSERTION) FAILED at / {
	if (why == "") {
		why = $0
		sub(/.*FAILED at /, "", why)
		sub(/.*\/sw\/ward\//, "", why)
		more = 2
	}
	next
}
more && !/^ *(not ok|ok|#) / { sub(/^ +/, ""); why = why " " $0; more--; next }

/^        not ok [0-9]+ / {	# one parameter of a case
	sub(/^ *not ok [0-9]+ /, "")
	if (why !~ /^\[/)
		why = "[" $0 "] " why
	next
}

/^    (not )?ok [0-9]+ / {
	ok = !/^ *not /
	sub(/^ *(not )?ok [0-9]+ /, "")
	skip = ""
	if (match($0, / *# SKIP.*/)) {
		skip = substr($0, RSTART)
		sub(/^ *# /, "", skip)
		$0 = substr($0, 1, RSTART - 1)
	}
	report(ok, suite "." $0, ok ? skip : why)
	bad_cases += !ok
	why = ""
	more = 0
	next
}

/^(not )?ok [0-9]+ / {
	suites++
	if (/^not / && !bad_cases)
		report(0, $4, why != "" ? why : "the suite failed outside of its cases")
	bad_cases = 0
	why = ""
	next
}

$0 ~ complaints {
	if (!(complaint++))
		first = $0
}

END {
	if (complaint)
		report(0, "kernel-log", complaint " complaints, the first: " first)
	if (planned == "")
		report(0, "boot", "the kernel did not get as far as KUnit")
	else if (suites != planned)
		report(0, "all-suites", (suites + 0) " of " planned " suites ended" \
			(suite != "" ? ", the last one seen is " suite : "") \
			(status == 124 || status == 137 ? " (time limit)" : ""))
	else if (!passed && !failed)
		report(0, "any-case", "no case ran")
	printf "%d passed, %d failed\n", passed, failed
	exit failed > 0
}
