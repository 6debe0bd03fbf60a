package dev.warmpath.kvindex;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/** The arrows of this module. */
@AnalyzeClasses(packages = "dev.warmpath", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {

  @ArchTest
  static final ArchRule DEPENDS_ON_NOTHING_OF_OURS =
      classes()
          .should()
          .onlyDependOnClassesThat(
              resideInAnyPackage(
                  "dev.warmpath.kvindex..", "java..", "org.jspecify..", "com.dynatrace.hash4j.."));

  @ArchTest
  static final ArchRule CONTRACT_KNOWS_NO_IMPLEMENTATION =
      noClasses()
          .that()
          .resideInAnyPackage("dev.warmpath.kvindex", "..block", "..enginehash")
          .should()
          .dependOnClassesThat()
          .resideInAPackage("..runs..");

  @ArchTest
  static final ArchRule BLOCK_IDENTITY_STANDS_ALONE =
      noClasses()
          .that()
          .resideInAPackage("..block")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage("dev.warmpath.kvindex", "..runs..", "..enginehash");

  @ArchTest
  static final ArchRule NO_CYCLES =
      slices().matching("dev.warmpath.(**)").should().beFreeOfCycles();
}
