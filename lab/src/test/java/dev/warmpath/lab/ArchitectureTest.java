package dev.warmpath.lab;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/** The laboratory may see everything; what is shipped does not see it. */
@AnalyzeClasses(packages = "dev.warmpath", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {

  @ArchTest
  static final ArchRule NOTHING_DEPENDS_ON_THE_LABORATORY =
      noClasses()
          .that()
          .resideOutsideOfPackage("dev.warmpath.lab..")
          .should()
          .dependOnClassesThat()
          .resideInAPackage("dev.warmpath.lab..");

  @ArchTest
  static final ArchRule NETTY_ONLY_IN_THE_GATEWAY_BENCH =
      noClasses()
          .that()
          .resideInAPackage("dev.warmpath.lab..")
          .and()
          .resideOutsideOfPackage("dev.warmpath.lab.gateway")
          .should()
          .dependOnClassesThat()
          .resideInAPackage("io.netty..");
}
