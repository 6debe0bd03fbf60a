/** What a study found: as a table, as files, as a page with plots, and beside another study. */
@NullMarked
package dev.warmpath.simulator.study.report;

import org.jspecify.annotations.NullMarked;
