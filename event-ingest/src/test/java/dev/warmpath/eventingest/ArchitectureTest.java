package dev.warmpath.eventingest;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.type;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
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
import java.time.Clock;
import java.util.Set;

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
                  "com.sun.management..", // of the JDK: open files
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
                      "..eventingest.capture", "java..", "org.jspecify..", "org.msgpack..")
                  .or(type(OwnerOnly.class)));

  @ArchTest
  static final ArchRule STREAMS_KNOW_NO_SOCKETS =
      noClasses()
          .that()
          .resideInAnyPackage(
              "dev.warmpath.eventingest", "..session", "..apply", "..hashing", "..capture")
          .should()
          .dependOnClassesThat(
              resideInAPackage("org.zeromq..").or(resideInAPackage("..transport..")));

  /** The time of day may be set at any moment; who reads it does so for people, or for a file. */
  @ArchTest
  static final ArchRule DURATIONS_ARE_NOT_MEASURED_BY_THE_TIME_OF_DAY =
      noClasses()
          .that()
          .doNotHaveSimpleName("EventIngest") // when a snapshot was taken
          .and()
          .doNotHaveSimpleName("FollowedEngine") // since when an engine is believed
          .should(readTheTimeOfDay());

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
          events.add(new SimpleConditionEvent(call, reads, call.getDescription()));
        }
      }
    };
  }

  @ArchTest
  static final ArchRule NO_CYCLES =
      slices().matching("dev.warmpath.eventingest.(**)").should().beFreeOfCycles();
}
