package dev.warmpath.tokenizer;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/** The arrows of the module: of the project's rooms the tokenizer sees block identity only. */
@AnalyzeClasses(packages = "dev.warmpath", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {

  @ArchTest
  static final ArchRule SEES_BLOCK_IDENTITY_ONLY =
      noClasses()
          .that()
          .resideInAPackage("dev.warmpath.tokenizer..")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(
              "dev.warmpath.kvindex",
              "dev.warmpath.kvindex.enginehash..",
              "dev.warmpath.eventingest..",
              "dev.warmpath.router..",
              "dev.warmpath.simulator..");

  @ArchTest
  static final ArchRule TEMPLATES_STAND_ALONE =
      noClasses()
          .that()
          .resideInAPackage("dev.warmpath.tokenizer.template..")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(
              "dev.warmpath.kvindex..",
              "dev.warmpath.tokenizer",
              "dev.warmpath.tokenizer.chat..",
              "dev.warmpath.tokenizer.encode..",
              "dev.warmpath.tokenizer.files..");

  @ArchTest
  static final ArchRule NO_CIRCLES =
      slices().matching("dev.warmpath.tokenizer.(**)").should().beFreeOfCycles();
}
