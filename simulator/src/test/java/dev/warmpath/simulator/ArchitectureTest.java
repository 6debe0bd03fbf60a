package dev.warmpath.simulator;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;

/** The arrows inside the simulator. */
@AnalyzeClasses(
    packages = "dev.warmpath.simulator",
    importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {

  @ArchTest
  static final ArchRule ENGINE_IS_PURE =
      noClasses()
          .that()
          .resideInAPackage("dev.warmpath.simulator.engine..")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(
              "io.vertx..",
              "io.netty..",
              "org.zeromq..",
              "java.net..",
              "java.nio.channels..",
              "java.util.concurrent..",
              "java.time..",
              "dev.warmpath.router..",
              "dev.warmpath.eventingest..",
              "dev.warmpath.tokenizer..",
              "dev.warmpath.simulator.live..",
              "dev.warmpath.simulator.load..",
              "dev.warmpath.simulator.demo..",
              "dev.warmpath.simulator.cli..");

  @ArchTest
  static final ArchRule ENGINE_KNOWS_NO_CLOCK =
      noClasses()
          .that()
          .resideInAPackage("dev.warmpath.simulator.engine..")
          .should()
          .callMethod(System.class, "nanoTime")
          .orShould()
          .callMethod(System.class, "currentTimeMillis")
          .orShould()
          .callMethod(Math.class, "random")
          .orShould()
          .dependOnClassesThat()
          .areAssignableTo(Thread.class);

  @ArchTest
  static final ArchRule SOCKETS_ONLY_IN_LIVE =
      noClasses()
          .that()
          .resideOutsideOfPackage("dev.warmpath.simulator.live..")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage("io.vertx..", "org.zeromq..");

  @ArchTest
  static final ArchRule NETTY_ONLY_IN_THE_GATEWAY_BENCH =
      noClasses()
          .that()
          .resideOutsideOfPackage("dev.warmpath.simulator.bench.gateway..")
          .should()
          .dependOnClassesThat()
          .resideInAPackage("io.netty..");
}
