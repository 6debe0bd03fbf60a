package dev.warmpath.lab;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** A simple name means one thing in all modules, so that whoever searches for it finds it. */
final class SimpleNamesTest {

  @Test
  void noTwoTypesShareSimpleName() {
    Map<String, List<String>> types =
        new ClassFileImporter()
                .withImportOption(new ImportOption.DoNotIncludeTests())
                .importPackages("dev.warmpath")
                .stream()
                .filter(type -> type.isTopLevelClass())
                .filter(type -> !type.getSimpleName().equals("package-info"))
                .collect(
                    Collectors.groupingBy(
                        JavaClass::getSimpleName,
                        TreeMap::new,
                        Collectors.mapping(JavaClass::getPackageName, Collectors.toList())));
    assertThat(types).hasSizeGreaterThan(500);
    types.values().removeIf(packages -> packages.size() == 1);
    assertThat(types).as("packages by simple name").isEmpty();
  }
}
