package dev.warmpath.simulator;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.type;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import java.net.URI;
import java.time.Clock;

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
  static final ArchRule SOCKETS_ONLY_IN_LIVE_AND_CAPTURE_TOOLS =
      noClasses()
          .that()
          .resideOutsideOfPackages(
              "dev.warmpath.simulator.live..",
              "dev.warmpath.simulator.capture",
              "dev.warmpath.simulator.cli")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage("io.vertx..", "org.zeromq..");

  @ArchTest
  static final ArchRule STREAMS_ARE_JUDGED_WITHOUT_SOCKETS =
      noClasses()
          .that()
          .resideInAPackage("dev.warmpath.simulator.capture")
          .and()
          .haveNameNotMatching(".*\\.Capture(Publisher|Recorder)\\b.*")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage("org.zeromq..", "dev.warmpath.eventingest.transport..");

  @ArchTest
  static final ArchRule NETTY_IS_LEFT_TO_THE_LABORATORY =
      noClasses().should().dependOnClassesThat().resideInAPackage("io.netty..");

  @ArchTest
  static final ArchRule VIRTUAL_TIME_KNOWS_NO_CLOCK =
      noClasses()
          .that()
          .resideInAnyPackage(
              "dev.warmpath.simulator.fleet..",
              "dev.warmpath.simulator.trace..",
              "dev.warmpath.simulator.study..")
          .should()
          .callMethod(System.class, "nanoTime")
          .orShould()
          .callMethod(System.class, "currentTimeMillis")
          .orShould()
          .callMethod(Math.class, "random")
          .orShould()
          .dependOnClassesThat()
          .areAssignableTo(Thread.class)
          .orShould()
          .dependOnClassesThat()
          .areAssignableTo(Clock.class);

  @ArchTest
  static final ArchRule VIRTUAL_TIME_KNOWS_NO_SOCKETS =
      noClasses()
          .that()
          .resideInAnyPackage(
              "dev.warmpath.simulator.fleet..",
              "dev.warmpath.simulator.trace..",
              "dev.warmpath.simulator.study..")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(
              "io.vertx..",
              "io.netty..",
              "org.zeromq..",
              "java.nio.channels..",
              "dev.warmpath.eventingest.transport..",
              "dev.warmpath.simulator.live..",
              "dev.warmpath.simulator.demo..",
              "dev.warmpath.simulator.cli..")
          .orShould()
          .dependOnClassesThat(resideInAPackage("java.net").and(not(type(URI.class))));

  @ArchTest
  static final ArchRule THREADS_ONLY_IN_STUDIES =
      noClasses()
          .that()
          .resideInAnyPackage("dev.warmpath.simulator.fleet..", "dev.warmpath.simulator.trace..")
          .should()
          .dependOnClassesThat()
          .resideInAPackage("java.util.concurrent..");

  @ArchTest
  static final ArchRule TRACES_KNOW_NO_FLEET =
      noClasses()
          .that()
          .resideInAPackage("dev.warmpath.simulator.trace..")
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(
              "dev.warmpath.simulator.fleet..",
              "dev.warmpath.simulator.study..",
              "dev.warmpath.simulator.engine..",
              "dev.warmpath.router..");

  @ArchTest
  static final ArchRule FLEETS_KNOW_NO_STUDY =
      noClasses()
          .that()
          .resideInAPackage("dev.warmpath.simulator.fleet..")
          .should()
          .dependOnClassesThat()
          .resideInAPackage("dev.warmpath.simulator.study..");
}
