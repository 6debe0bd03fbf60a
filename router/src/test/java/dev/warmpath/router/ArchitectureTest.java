package dev.warmpath.router;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import io.vertx.core.Vertx;

/** The arrows inside the router. */
@AnalyzeClasses(
    packages = "dev.warmpath.router",
    importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {

  private static final String ROUTING = "dev.warmpath.router.routing..";
  private static final String FLEET = "dev.warmpath.router.fleet..";

  @ArchTest
  static final ArchRule ROUTING_IS_PURE =
      noClasses()
          .that()
          .resideInAPackage(ROUTING)
          .should()
          .dependOnClassesThat()
          .resideOutsideOfPackages(
              ROUTING, "java.lang..", "java.util..", "org.jspecify.annotations..");

  @ArchTest
  static final ArchRule ROUTING_AND_FLEET_KNOW_NO_CLOCK =
      noClasses()
          .that()
          .resideInAnyPackage(ROUTING, FLEET)
          .should()
          .callMethod(System.class, "nanoTime")
          .orShould()
          .callMethod(System.class, "currentTimeMillis")
          .orShould()
          .callMethod(Math.class, "random")
          .orShould()
          .dependOnClassesThat(resideInAPackage("java.time.."));

  @ArchTest
  static final ArchRule FLEET_HAS_NO_SOCKETS =
      noClasses()
          .that()
          .resideInAPackage(FLEET)
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage("io.vertx..", "io.netty..", "org.zeromq..", "java.nio.channels..")
          .orShould()
          .dependOnClassesThat()
          .haveFullyQualifiedName("java.net.Socket");

  @ArchTest
  static final ArchRule NOTHING_CALLS_BACK_UP =
      noClasses()
          .that()
          .resideInAnyPackage(ROUTING, FLEET)
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(
              "dev.warmpath.router.proxy..",
              "dev.warmpath.router.admin..",
              "dev.warmpath.router.observe..",
              "dev.warmpath.router.config..",
              "dev.warmpath.router.cli..",
              "dev.warmpath.simulator..");

  @ArchTest
  static final ArchRule THE_SIMULATOR_IS_NOT_SEEN =
      noClasses().should().dependOnClassesThat().resideInAPackage("dev.warmpath.simulator..");

  /** By itself, Vert.x needs a folder to unpack files into; a container may have none. */
  @ArchTest
  static final ArchRule NOTHING_NEEDS_A_FOLDER_FOR_FILES =
      noClasses().should().callMethod(Vertx.class, "vertx");

  @ArchTest
  static final ArchRule THERE_ARE_NO_CIRCLES =
      slices().matching("dev.warmpath.router.(**)").should().beFreeOfCycles();
}
