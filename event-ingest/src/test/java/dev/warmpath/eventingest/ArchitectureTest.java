package dev.warmpath.eventingest;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/** The arrows of this module. */
@AnalyzeClasses(
    packages = "dev.warmpath.eventingest",
    importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {

  @ArchTest
  static final ArchRule OF_OURS_DEPENDS_ON_THE_INDEX_ALONE =
      classes()
          .should()
          .onlyDependOnClassesThat(
              resideInAnyPackage(
                  "dev.warmpath.eventingest..",
                  "dev.warmpath.kvindex..",
                  "java..",
                  "org.jspecify..",
                  "org.zeromq..",
                  "zmq..",
                  "org.msgpack..",
                  "org.slf4j.."));

  @ArchTest
  static final ArchRule EVENTS_KNOW_THE_BLOCKS_AND_NOTHING_ELSE =
      classes()
          .that()
          .resideInAPackage("..wire..")
          .should()
          .onlyDependOnClassesThat(
              resideInAnyPackage(
                  "..eventingest.wire..", "dev.warmpath.kvindex..", "java..", "org.jspecify.."));

  @ArchTest
  static final ArchRule CAPTURE_FILES_STAND_ALONE =
      classes()
          .that()
          .resideInAPackage("..eventingest.capture")
          .should()
          .onlyDependOnClassesThat(
              resideInAnyPackage(
                  "..eventingest.capture", "java..", "org.jspecify..", "org.msgpack.."));

  @ArchTest
  static final ArchRule STREAMS_KNOW_NO_SOCKETS =
      noClasses()
          .that()
          .resideInAnyPackage(
              "..session..", "..apply..", "..count..", "..sglang..", "..verify..", "..capture")
          .should()
          .dependOnClassesThat(
              resideInAPackage("org.zeromq..").or(resideInAPackage("..transport..")));

  @ArchTest
  static final ArchRule NO_CYCLES =
      slices().matching("dev.warmpath.eventingest.(**)").should().beFreeOfCycles();
}
