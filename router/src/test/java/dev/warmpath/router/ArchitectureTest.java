package dev.warmpath.router;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideOutsideOfPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaMethodCall;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import io.vertx.core.Vertx;
import java.time.Clock;
import java.util.Set;

/** The arrows inside the router. */
@AnalyzeClasses(
    packages = "dev.warmpath.router",
    importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {

  private static final String ROUTING = "dev.warmpath.router.routing..";
  private static final String METRICS = "dev.warmpath.router.metrics..";
  private static final String FLEET = "dev.warmpath.router.fleet..";
  private static final String DISPATCH = "dev.warmpath.router.dispatch..";

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
          .resideInAnyPackage(ROUTING, FLEET, DISPATCH)
          .should()
          .callMethod(System.class, "nanoTime")
          .orShould()
          .callMethod(System.class, "currentTimeMillis")
          .orShould()
          .callMethod(Math.class, "random")
          .orShould()
          .dependOnClassesThat(resideInAPackage("java.time.."));

  /** Who may read the time of day, which may be set at any moment, and for what. */
  private static final Set<String> READ_THE_TIME_OF_DAY =
      Set.of(
          "RestoredState", // the age of a snapshot
          "FleetCapture", // names of files, and when they begin
          "RequestLog", // when a request came
          "History",
          "RecentDecisions", // the same, for people
          "PortSecurity", // since when a certificate is valid
          "FleetProbe",
          "HttpProbe"); // against the engine's clock and certificates

  @ArchTest
  static final ArchRule DURATIONS_ARE_NOT_MEASURED_BY_THE_TIME_OF_DAY =
      noClasses().should(readTheTimeOfDay());

  private static ArchCondition<JavaClass> readTheTimeOfDay() {
    return new ArchCondition<>("read the time of day") {
      @Override
      public void check(JavaClass reader, ConditionEvents events) {
        for (JavaMethodCall call : reader.getMethodCallsFromSelf()) {
          boolean reads =
              (call.getTargetOwner().isAssignableTo(Clock.class)
                      && Set.of("instant", "millis").contains(call.getName()))
                  || call.getName().equals("currentTimeMillis")
                  || (call.getTargetOwner().getPackageName().equals("java.time")
                      && call.getName().equals("now"));
          boolean may = READ_THE_TIME_OF_DAY.contains(reader.getSimpleName());
          events.add(new SimpleConditionEvent(call, reads && !may, call.getDescription()));
        }
      }
    };
  }

  @ArchTest
  static final ArchRule FLEET_HAS_NO_SOCKETS =
      noClasses()
          .that()
          .resideInAnyPackage(FLEET, DISPATCH)
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
          .resideInAnyPackage(ROUTING, FLEET, DISPATCH)
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(
              "dev.warmpath.router.proxy..",
              "dev.warmpath.router.console..",
              "dev.warmpath.router.config..",
              "dev.warmpath.router.cli..",
              "dev.warmpath.simulator..");

  @ArchTest
  static final ArchRule METRICS_SEE_NO_OTHER_ROOM =
      noClasses()
          .that()
          .resideInAPackage(METRICS)
          .should()
          .dependOnClassesThat(
              resideInAPackage("dev.warmpath.router..").and(resideOutsideOfPackage(METRICS)));

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
