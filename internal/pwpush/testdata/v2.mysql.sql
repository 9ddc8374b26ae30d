/*M!999999\- enable the sandbox mode */ 
-- MariaDB dump 10.19  Distrib 10.11.19-MariaDB, for debian-linux-gnu (x86_64)
--
-- Host: localhost    Database: v2
-- ------------------------------------------------------
-- Server version	10.11.19-MariaDB-0+deb12u1

/*!40101 SET @OLD_CHARACTER_SET_CLIENT=@@CHARACTER_SET_CLIENT */;
/*!40101 SET @OLD_CHARACTER_SET_RESULTS=@@CHARACTER_SET_RESULTS */;
/*!40101 SET @OLD_COLLATION_CONNECTION=@@COLLATION_CONNECTION */;
/*!40101 SET NAMES utf8mb4 */;
/*!40103 SET @OLD_TIME_ZONE=@@TIME_ZONE */;
/*!40103 SET TIME_ZONE='+00:00' */;
/*!40014 SET @OLD_UNIQUE_CHECKS=@@UNIQUE_CHECKS, UNIQUE_CHECKS=0 */;
/*!40014 SET @OLD_FOREIGN_KEY_CHECKS=@@FOREIGN_KEY_CHECKS, FOREIGN_KEY_CHECKS=0 */;
/*!40101 SET @OLD_SQL_MODE=@@SQL_MODE, SQL_MODE='NO_AUTO_VALUE_ON_ZERO' */;
/*!40111 SET @OLD_SQL_NOTES=@@SQL_NOTES, SQL_NOTES=0 */;

--
-- Table structure for table `active_storage_attachments`
--

DROP TABLE IF EXISTS `active_storage_attachments`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `active_storage_attachments` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `blob_id` bigint(20) NOT NULL,
  `created_at` datetime NOT NULL,
  `name` varchar(255) NOT NULL,
  `record_id` bigint(20) NOT NULL,
  `record_type` varchar(255) NOT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `index_active_storage_attachments_uniqueness` (`record_type`,`record_id`,`name`,`blob_id`),
  KEY `index_active_storage_attachments_on_blob_id` (`blob_id`)
) ENGINE=InnoDB AUTO_INCREMENT=3 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `active_storage_attachments`
--

LOCK TABLES `active_storage_attachments` WRITE;
/*!40000 ALTER TABLE `active_storage_attachments` DISABLE KEYS */;
INSERT INTO `active_storage_attachments` VALUES
(1,1,'2026-08-01 10:03:30','files',2,'Push'),
(2,2,'2026-08-01 10:03:30','files',2,'Push');
/*!40000 ALTER TABLE `active_storage_attachments` ENABLE KEYS */;
UNLOCK TABLES;

--
-- Table structure for table `active_storage_blobs`
--

DROP TABLE IF EXISTS `active_storage_blobs`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `active_storage_blobs` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `byte_size` bigint(20) NOT NULL,
  `checksum` varchar(255) DEFAULT NULL,
  `content_type` varchar(255) DEFAULT NULL,
  `created_at` datetime NOT NULL,
  `filename` varchar(255) NOT NULL,
  `key` varchar(255) NOT NULL,
  `metadata` text DEFAULT NULL,
  `service_name` varchar(255) NOT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `index_active_storage_blobs_on_key` (`key`)
) ENGINE=InnoDB AUTO_INCREMENT=3 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `active_storage_blobs`
--

LOCK TABLES `active_storage_blobs` WRITE;
/*!40000 ALTER TABLE `active_storage_blobs` DISABLE KEYS */;
INSERT INTO `active_storage_blobs` VALUES
(1,20,'Oe3CrSZ90l//btYTmR7AtQ==','text/plain','2026-08-01 10:03:30','résumé \'final\'.txt','abcdef0123456789abcdefghij12','{\"identified\":true,\"analyzed\":true}','local'),
(2,1024,'suqff86oMaSmOyE/QaiFWw==','application/octet-stream','2026-08-01 10:03:30','data.bin','zz9876543210zyxwvutsrqpong34','{\"identified\":true,\"analyzed\":true}','local');
/*!40000 ALTER TABLE `active_storage_blobs` ENABLE KEYS */;
UNLOCK TABLES;

--
-- Table structure for table `active_storage_variant_records`
--

DROP TABLE IF EXISTS `active_storage_variant_records`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `active_storage_variant_records` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `blob_id` bigint(20) NOT NULL,
  `variation_digest` varchar(255) NOT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `index_active_storage_variant_records_uniqueness` (`blob_id`,`variation_digest`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `active_storage_variant_records`
--

LOCK TABLES `active_storage_variant_records` WRITE;
/*!40000 ALTER TABLE `active_storage_variant_records` DISABLE KEYS */;
/*!40000 ALTER TABLE `active_storage_variant_records` ENABLE KEYS */;
UNLOCK TABLES;

--
-- Table structure for table `ar_internal_metadata`
--

DROP TABLE IF EXISTS `ar_internal_metadata`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `ar_internal_metadata` (
  `key` varchar(255) NOT NULL,
  `value` varchar(255) DEFAULT NULL,
  `created_at` datetime(6) NOT NULL,
  `updated_at` datetime(6) NOT NULL,
  PRIMARY KEY (`key`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `ar_internal_metadata`
--

LOCK TABLES `ar_internal_metadata` WRITE;
/*!40000 ALTER TABLE `ar_internal_metadata` DISABLE KEYS */;
INSERT INTO `ar_internal_metadata` VALUES
('environment','default_env','2026-11-22 21:25:04.757721','2026-11-22 21:25:04.757721');
/*!40000 ALTER TABLE `ar_internal_metadata` ENABLE KEYS */;
UNLOCK TABLES;

--
-- Table structure for table `audit_logs`
--

DROP TABLE IF EXISTS `audit_logs`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `audit_logs` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `created_at` datetime(6) NOT NULL,
  `ip` varchar(255) DEFAULT NULL,
  `kind` int(11) NOT NULL,
  `push_id` bigint(20) NOT NULL,
  `referrer` varchar(255) DEFAULT NULL,
  `updated_at` datetime(6) NOT NULL,
  `user_agent` varchar(255) DEFAULT NULL,
  `user_id` bigint(20) DEFAULT NULL,
  PRIMARY KEY (`id`),
  KEY `index_audit_logs_on_kind` (`kind`),
  KEY `index_audit_logs_on_push_id` (`push_id`),
  KEY `index_audit_logs_on_user_id` (`user_id`)
) ENGINE=InnoDB AUTO_INCREMENT=15 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `audit_logs`
--

LOCK TABLES `audit_logs` WRITE;
/*!40000 ALTER TABLE `audit_logs` DISABLE KEYS */;
INSERT INTO `audit_logs` VALUES
(1,'2026-08-01 10:20:30.123456','203.0.113.7',0,1,'','2026-08-01 10:20:30.123456','Mozilla/5.0 (X11; Linux x86_64) \\ \'quoted\'',1),
(2,'2026-08-01 10:21:30.123456','2001:db8::7',1,1,'https://example.com/?q=\'x\'','2026-08-01 10:21:30.123456','Mozilla/5.0 (X11; Linux x86_64) \\ \'quoted\'',NULL),
(3,'2026-08-01 10:22:30.123456','203.0.113.7',1,1,'https://example.com/?q=\'x\'','2026-08-01 10:22:30.123456','Mozilla/5.0 (X11; Linux x86_64) \\ \'quoted\'',NULL),
(4,'2026-08-01 10:23:30.123456','2001:db8::7',4,1,'https://example.com/?q=\'x\'','2026-08-01 10:23:30.123456','Mozilla/5.0 (X11; Linux x86_64) \\ \'quoted\'',NULL),
(5,'2026-08-01 10:24:30.123456','203.0.113.7',6,1,'https://example.com/?q=\'x\'','2026-08-01 10:24:30.123456','Mozilla/5.0 (X11; Linux x86_64) \\ \'quoted\'',1),
(6,'2026-08-01 10:25:30.123456','2001:db8::7',0,2,'https://example.com/?q=\'x\'','2026-08-01 10:25:30.123456','Mozilla/5.0 (X11; Linux x86_64) \\ \'quoted\'',1),
(7,'2026-08-01 10:26:30.123456','203.0.113.7',1,2,'https://example.com/?q=\'x\'','2026-08-01 10:26:30.123456','Mozilla/5.0 (X11; Linux x86_64) \\ \'quoted\'',2),
(8,'2026-08-01 10:27:30.123456','2001:db8::7',0,5,'https://example.com/?q=\'x\'','2026-08-01 10:27:30.123456','Mozilla/5.0 (X11; Linux x86_64) \\ \'quoted\'',1),
(9,'2026-08-01 10:28:30.123456','203.0.113.7',1,5,'https://example.com/?q=\'x\'','2026-08-01 10:28:30.123456','Mozilla/5.0 (X11; Linux x86_64) \\ \'quoted\'',NULL),
(10,'2026-08-01 10:29:30.123456','2001:db8::7',3,5,'https://example.com/?q=\'x\'','2026-08-01 10:29:30.123456','Mozilla/5.0 (X11; Linux x86_64) \\ \'quoted\'',1),
(11,'2026-08-01 10:30:30.123456','203.0.113.7',2,5,'https://example.com/?q=\'x\'','2026-08-01 10:30:30.123456','Mozilla/5.0 (X11; Linux x86_64) \\ \'quoted\'',NULL),
(12,'2026-08-01 10:31:30.123456','2001:db8::7',5,1,'https://example.com/?q=\'x\'','2026-08-01 10:31:30.123456','Mozilla/5.0 (X11; Linux x86_64) \\ \'quoted\'',1),
(13,'2026-08-01 10:32:30.123456','203.0.113.7',7,1,'https://example.com/?q=\'x\'','2026-08-01 10:32:30.123456','Mozilla/5.0 (X11; Linux x86_64) \\ \'quoted\'',1),
(14,'2026-08-01 10:33:30.123456','2001:db8::7',8,1,'https://example.com/?q=\'x\'','2026-08-01 10:33:30.123456','Mozilla/5.0 (X11; Linux x86_64) \\ \'quoted\'',1);
/*!40000 ALTER TABLE `audit_logs` ENABLE KEYS */;
UNLOCK TABLES;

--
-- Table structure for table `data_migration_statuses`
--

DROP TABLE IF EXISTS `data_migration_statuses`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `data_migration_statuses` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `completed` tinyint(1) DEFAULT 0,
  `completed_at` datetime(6) DEFAULT NULL,
  `created_at` datetime(6) NOT NULL,
  `name` varchar(255) NOT NULL,
  `updated_at` datetime(6) NOT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `index_data_migration_statuses_on_name` (`name`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `data_migration_statuses`
--

LOCK TABLES `data_migration_statuses` WRITE;
/*!40000 ALTER TABLE `data_migration_statuses` DISABLE KEYS */;
/*!40000 ALTER TABLE `data_migration_statuses` ENABLE KEYS */;
UNLOCK TABLES;

--
-- Table structure for table `notify_by_emails`
--

DROP TABLE IF EXISTS `notify_by_emails`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `notify_by_emails` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `audit_log_id` bigint(20) NOT NULL,
  `created_at` datetime(6) NOT NULL,
  `error_message_ciphertext` text DEFAULT NULL,
  `locale_ciphertext` text DEFAULT NULL,
  `proceed_at` datetime(6) DEFAULT NULL,
  `recipients_ciphertext` text NOT NULL,
  `recipients_count` int(11) NOT NULL DEFAULT 0,
  `status` int(11) NOT NULL DEFAULT 0,
  `successful_sends_ciphertext` text DEFAULT NULL,
  `updated_at` datetime(6) NOT NULL,
  PRIMARY KEY (`id`),
  KEY `index_notify_by_emails_on_audit_log_id` (`audit_log_id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `notify_by_emails`
--

LOCK TABLES `notify_by_emails` WRITE;
/*!40000 ALTER TABLE `notify_by_emails` DISABLE KEYS */;
/*!40000 ALTER TABLE `notify_by_emails` ENABLE KEYS */;
UNLOCK TABLES;

--
-- Table structure for table `pushes`
--

DROP TABLE IF EXISTS `pushes`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `pushes` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `created_at` datetime(6) NOT NULL,
  `deletable_by_viewer` tinyint(1) DEFAULT 1,
  `expire_after_days` int(11) DEFAULT NULL,
  `expire_after_views` int(11) DEFAULT NULL,
  `expired` tinyint(1) DEFAULT 0,
  `expired_on` datetime(6) DEFAULT NULL,
  `kind` int(11) NOT NULL,
  `name` varchar(255) DEFAULT NULL,
  `note_ciphertext` text DEFAULT NULL,
  `passphrase_ciphertext` text DEFAULT NULL,
  `payload_ciphertext` mediumtext DEFAULT NULL,
  `retrieval_step` tinyint(1) DEFAULT 0,
  `updated_at` datetime(6) NOT NULL,
  `url_token` varchar(255) DEFAULT NULL,
  `user_id` bigint(20) DEFAULT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `index_pushes_on_url_token` (`url_token`),
  KEY `index_pushes_on_user_id` (`user_id`)
) ENGINE=InnoDB AUTO_INCREMENT=9 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `pushes`
--

LOCK TABLES `pushes` WRITE;
/*!40000 ALTER TABLE `pushes` DISABLE KEYS */;
INSERT INTO `pushes` VALUES
(1,'2026-08-01 10:01:30.123456',1,7,5,0,NULL,0,'It\'s a \\ test;\n-- no comment	tab \"quoted\" ü 🎉\r\n/* $$ */ \\n \\N \'\' E\'x\' );','deoMa7bcVIF+xzV3O1QIEsqlCf5WnxVA2pvdQpmWWyjyAGmKaNWLzvxvUA/kxJw=','MTa8vGlcI0+0PAvLKlp88Hk+05juBHA/zm5roI66UoPe71ACbE1/b1AK','Ya53RBiywSOLZErVMQR6Pg/oVM8gnWf4fkMbB7O/bJNpl2LOBn0bnWGmKt5NuXphtddTksOMh8c3/cWz4AJhevS6/wHOBlaY6Pi+CEJRqFmPp7fv5/itpbpRGUYVGquqkp2+IM3ra1g=',1,'2026-08-01 10:01:30.123456','ab12-cd34_ef',1),
(2,'2026-08-01 10:02:30.123456',1,30,100,0,NULL,1,'','','','',0,'2026-08-01 10:02:30.123456','z9y8x7w6v5u4t3s2r1q',1),
(3,'2026-08-01 10:03:30.123456',NULL,7,5,0,NULL,2,'','','','QD7mAhF1w/MNwSvWxMk6xtJtJEyYKS+f4pYBXrOH3KTmirrgoTNc3kytKzhocx6wDkw1VTBnGg==',0,'2026-08-01 10:03:30.123456','url-token-00',2),
(4,'2026-08-01 10:04:30.123456',0,7,5,0,NULL,3,'','','','XFJjhV8eDBRxEJRuf+sJQiJyzFbgZUS54IDTfDpbdcVtrP4hiGZXgO8NSJlTF3Dr86Tujoo=',0,'2026-08-01 10:04:30.123456','qr_token_0000000',NULL),
(5,'2026-08-01 10:05:30.123456',1,7,5,1,'2026-08-01 10:20:30.123456',0,'gone','',NULL,NULL,0,'2026-08-01 10:05:30.123456','expired-token',1),
(6,'2026-08-01 10:06:30.123456',1,7,5,0,NULL,0,'','','','wRO9ulWSJ27OB3Zb3U6VVrZMUU3uloFwoc1GnzmyRVsjNCllNLZLT6HLrpTbstJmZ5A=',0,'2026-08-01 10:06:30.123456','older-key-00',NULL),
(7,'2026-08-01 10:07:30.123456',1,7,5,0,NULL,0,'','','','3EIynzTJqB9xBANO3jd0FoEvjq0QDB/tOX5/7l9XL0KbCBVo70OxcXPm3CSaCdo9sw==',0,'2026-08-01 10:07:30.123456','default-key-0',NULL),
(8,'2026-08-01 10:08:30.123456',1,7,5,0,NULL,0,'','','','WvmeBbEMBUj6MW6mknQ94ptOJEuY4gr9bH/gkH7tPKIdOBAQEBFIoCV1+vxAmgPegADTVU/Q+rPoXUOFg7IRXoKfeu+QEJzb0mhmcwiqB6eCvEGtFuJEwv9KMs//F4YA5zABQoB0H1pZVDWvc+LIM2boBTprqkARRz/oNT3KnPr5pbggwuncBaMOh+P9++sJcUM2CJMcThMvOjpUgPeyKIWV2Fmv6o127Fjc+aoFD+aMPJ8ZjZNZB5IPISgUu9XJX0AgYCC/5Gg/QWsBK+XCur4QVtCpMKLIF1L/Q/2xH2xrxAxs0wA9tGNEwDo8BK/aBttqQ8Jd1wB55JcOCqHvo248diL9wHruzSpxACbVAwGEESC6B8KX5GtFNlTIGb1BliTszUS4pQQ2rWZxdfNyKS5YWYRl9KLSAdYVSdrA+bvw5W5Ty2oqepKzNHdr+/bFCWwZoznVTE8N0FIMMMfgmAVBE61fSWMNFL6W+NWxzYx9Yh0XvkD3do5no0s9u+FGvy0R//9RoUZuW+IqHuWg8TNhUDww5PllJVfb8o9SJXuENntenY6gFdgG0esMP+WcR2Iop9eht4dj9I0MAd/+HIf9gkdhfWxtidVWoq10kW5L+tlLKYYqFAUwzb9nzUvQi8Y2CqpZ6YbuvypXTQ8a5aK4bScXkhXAyIZL5d5bllUyE11AM2vzQjqDytIj58SFGex8/5pJ1xxdrYDmmKbmCe2Ftr18zU4tJO4GoxeRH6iUZUFNva1btiHxEIbaIz6j+NxNZa7k1qgu2M45dbFXyO8fEwFDd6wQZlTfpJlEKzI+PVFvSWuTFzP1bbdfAWmPV3bRrQ8fBrsjBCQRN7Eh4Y2KV0SXMRw9/kunLaNyhJTjhaes38KYH5xQF5RThbQZIj4NTtWP7T0jGzAlt3uRNXUrV5MTY6YQH3W9ZPCuBXgcJent7bITVTKG8SEwGaxizM75i+ojNiDmb0P5XsJnhuZY8IiQgRWkGFMAC4RyOVnbXyHBEjJ6FoDDXxHvLl26NRaAgE/TVIbirh/rJPl0ofcKbYrBumNzcx9SeTVPatTzFz6AjTeuGTRV/l76a2Ncj9O+aptbX+Kp5iOw+H5DbcUGTB3l8V/j91P+aD/X8ZsCDj2Udg/PDfR/4ZuOzXghzjN7q5blFNviScQw/zPstsGtVNj29xO/OvxqM8qBhERHKVc6BG2PpzD1xsnA5XaHTxP2h/pcWfgZD5sRNpc1y0zZmFn4aI/xSGlFlNFEu3MpcU6M1Xh39+Hi9nxg8WeFvL2LM2HCd3wi3i53izB2W8ne7scKUstR5lgaSyG02KFFUNjzUR0rKgx7vaMC/ZX+V4eAW9gLR8pDOrie1AOahsBSYzQGTmQ=',0,'2026-08-01 10:08:30.123456','long-token-00',NULL);
/*!40000 ALTER TABLE `pushes` ENABLE KEYS */;
UNLOCK TABLES;

--
-- Table structure for table `schema_migrations`
--

DROP TABLE IF EXISTS `schema_migrations`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `schema_migrations` (
  `version` varchar(255) NOT NULL,
  PRIMARY KEY (`version`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `schema_migrations`
--

LOCK TABLES `schema_migrations` WRITE;
/*!40000 ALTER TABLE `schema_migrations` DISABLE KEYS */;
INSERT INTO `schema_migrations` VALUES
('20260509010000');
/*!40000 ALTER TABLE `schema_migrations` ENABLE KEYS */;
UNLOCK TABLES;

--
-- Table structure for table `site_settings`
--

DROP TABLE IF EXISTS `site_settings`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `site_settings` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `created_at` datetime(6) NOT NULL,
  `key` varchar(255) NOT NULL,
  `updated_at` datetime(6) NOT NULL,
  `value` text DEFAULT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `index_site_settings_on_key` (`key`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `site_settings`
--

LOCK TABLES `site_settings` WRITE;
/*!40000 ALTER TABLE `site_settings` DISABLE KEYS */;
/*!40000 ALTER TABLE `site_settings` ENABLE KEYS */;
UNLOCK TABLES;

--
-- Table structure for table `solid_queue_blocked_executions`
--

DROP TABLE IF EXISTS `solid_queue_blocked_executions`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `solid_queue_blocked_executions` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `concurrency_key` varchar(255) NOT NULL,
  `created_at` datetime(6) NOT NULL,
  `expires_at` datetime(6) NOT NULL,
  `job_id` bigint(20) NOT NULL,
  `priority` int(11) NOT NULL DEFAULT 0,
  `queue_name` varchar(255) NOT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `index_solid_queue_blocked_executions_on_job_id` (`job_id`),
  KEY `index_solid_queue_blocked_executions_for_release` (`concurrency_key`,`priority`,`job_id`),
  KEY `index_solid_queue_blocked_executions_for_maintenance` (`expires_at`,`concurrency_key`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `solid_queue_blocked_executions`
--

LOCK TABLES `solid_queue_blocked_executions` WRITE;
/*!40000 ALTER TABLE `solid_queue_blocked_executions` DISABLE KEYS */;
/*!40000 ALTER TABLE `solid_queue_blocked_executions` ENABLE KEYS */;
UNLOCK TABLES;

--
-- Table structure for table `solid_queue_claimed_executions`
--

DROP TABLE IF EXISTS `solid_queue_claimed_executions`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `solid_queue_claimed_executions` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `created_at` datetime(6) NOT NULL,
  `job_id` bigint(20) NOT NULL,
  `process_id` bigint(20) DEFAULT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `index_solid_queue_claimed_executions_on_job_id` (`job_id`),
  KEY `index_solid_queue_claimed_executions_on_process_id_and_job_id` (`process_id`,`job_id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `solid_queue_claimed_executions`
--

LOCK TABLES `solid_queue_claimed_executions` WRITE;
/*!40000 ALTER TABLE `solid_queue_claimed_executions` DISABLE KEYS */;
/*!40000 ALTER TABLE `solid_queue_claimed_executions` ENABLE KEYS */;
UNLOCK TABLES;

--
-- Table structure for table `solid_queue_failed_executions`
--

DROP TABLE IF EXISTS `solid_queue_failed_executions`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `solid_queue_failed_executions` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `created_at` datetime(6) NOT NULL,
  `error` text DEFAULT NULL,
  `job_id` bigint(20) NOT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `index_solid_queue_failed_executions_on_job_id` (`job_id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `solid_queue_failed_executions`
--

LOCK TABLES `solid_queue_failed_executions` WRITE;
/*!40000 ALTER TABLE `solid_queue_failed_executions` DISABLE KEYS */;
/*!40000 ALTER TABLE `solid_queue_failed_executions` ENABLE KEYS */;
UNLOCK TABLES;

--
-- Table structure for table `solid_queue_jobs`
--

DROP TABLE IF EXISTS `solid_queue_jobs`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `solid_queue_jobs` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `active_job_id` varchar(255) DEFAULT NULL,
  `arguments` text DEFAULT NULL,
  `class_name` varchar(255) NOT NULL,
  `concurrency_key` varchar(255) DEFAULT NULL,
  `created_at` datetime(6) NOT NULL,
  `finished_at` datetime(6) DEFAULT NULL,
  `priority` int(11) NOT NULL DEFAULT 0,
  `queue_name` varchar(255) NOT NULL,
  `scheduled_at` datetime(6) DEFAULT NULL,
  `updated_at` datetime(6) NOT NULL,
  PRIMARY KEY (`id`),
  KEY `index_solid_queue_jobs_on_active_job_id` (`active_job_id`),
  KEY `index_solid_queue_jobs_on_class_name` (`class_name`),
  KEY `index_solid_queue_jobs_on_finished_at` (`finished_at`),
  KEY `index_solid_queue_jobs_for_filtering` (`queue_name`,`finished_at`),
  KEY `index_solid_queue_jobs_for_alerting` (`scheduled_at`,`finished_at`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `solid_queue_jobs`
--

LOCK TABLES `solid_queue_jobs` WRITE;
/*!40000 ALTER TABLE `solid_queue_jobs` DISABLE KEYS */;
/*!40000 ALTER TABLE `solid_queue_jobs` ENABLE KEYS */;
UNLOCK TABLES;

--
-- Table structure for table `solid_queue_pauses`
--

DROP TABLE IF EXISTS `solid_queue_pauses`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `solid_queue_pauses` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `created_at` datetime(6) NOT NULL,
  `queue_name` varchar(255) NOT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `index_solid_queue_pauses_on_queue_name` (`queue_name`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `solid_queue_pauses`
--

LOCK TABLES `solid_queue_pauses` WRITE;
/*!40000 ALTER TABLE `solid_queue_pauses` DISABLE KEYS */;
/*!40000 ALTER TABLE `solid_queue_pauses` ENABLE KEYS */;
UNLOCK TABLES;

--
-- Table structure for table `solid_queue_processes`
--

DROP TABLE IF EXISTS `solid_queue_processes`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `solid_queue_processes` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `created_at` datetime(6) NOT NULL,
  `hostname` varchar(255) DEFAULT NULL,
  `kind` varchar(255) NOT NULL,
  `last_heartbeat_at` datetime(6) NOT NULL,
  `metadata` text DEFAULT NULL,
  `name` varchar(255) NOT NULL,
  `pid` int(11) NOT NULL,
  `supervisor_id` bigint(20) DEFAULT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `index_solid_queue_processes_on_name_and_supervisor_id` (`name`,`supervisor_id`),
  KEY `index_solid_queue_processes_on_last_heartbeat_at` (`last_heartbeat_at`),
  KEY `index_solid_queue_processes_on_supervisor_id` (`supervisor_id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `solid_queue_processes`
--

LOCK TABLES `solid_queue_processes` WRITE;
/*!40000 ALTER TABLE `solid_queue_processes` DISABLE KEYS */;
/*!40000 ALTER TABLE `solid_queue_processes` ENABLE KEYS */;
UNLOCK TABLES;

--
-- Table structure for table `solid_queue_ready_executions`
--

DROP TABLE IF EXISTS `solid_queue_ready_executions`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `solid_queue_ready_executions` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `created_at` datetime(6) NOT NULL,
  `job_id` bigint(20) NOT NULL,
  `priority` int(11) NOT NULL DEFAULT 0,
  `queue_name` varchar(255) NOT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `index_solid_queue_ready_executions_on_job_id` (`job_id`),
  KEY `index_solid_queue_poll_all` (`priority`,`job_id`),
  KEY `index_solid_queue_poll_by_queue` (`queue_name`,`priority`,`job_id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `solid_queue_ready_executions`
--

LOCK TABLES `solid_queue_ready_executions` WRITE;
/*!40000 ALTER TABLE `solid_queue_ready_executions` DISABLE KEYS */;
/*!40000 ALTER TABLE `solid_queue_ready_executions` ENABLE KEYS */;
UNLOCK TABLES;

--
-- Table structure for table `solid_queue_recurring_executions`
--

DROP TABLE IF EXISTS `solid_queue_recurring_executions`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `solid_queue_recurring_executions` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `created_at` datetime(6) NOT NULL,
  `job_id` bigint(20) NOT NULL,
  `run_at` datetime(6) NOT NULL,
  `task_key` varchar(255) NOT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `index_solid_queue_recurring_executions_on_job_id` (`job_id`),
  UNIQUE KEY `index_solid_queue_recurring_executions_on_task_key_and_run_at` (`task_key`,`run_at`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `solid_queue_recurring_executions`
--

LOCK TABLES `solid_queue_recurring_executions` WRITE;
/*!40000 ALTER TABLE `solid_queue_recurring_executions` DISABLE KEYS */;
/*!40000 ALTER TABLE `solid_queue_recurring_executions` ENABLE KEYS */;
UNLOCK TABLES;

--
-- Table structure for table `solid_queue_recurring_tasks`
--

DROP TABLE IF EXISTS `solid_queue_recurring_tasks`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `solid_queue_recurring_tasks` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `arguments` text DEFAULT NULL,
  `class_name` varchar(255) DEFAULT NULL,
  `command` varchar(2048) DEFAULT NULL,
  `created_at` datetime(6) NOT NULL,
  `description` text DEFAULT NULL,
  `key` varchar(255) NOT NULL,
  `priority` int(11) DEFAULT 0,
  `queue_name` varchar(255) DEFAULT NULL,
  `schedule` varchar(255) NOT NULL,
  `static` tinyint(1) NOT NULL DEFAULT 1,
  `updated_at` datetime(6) NOT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `index_solid_queue_recurring_tasks_on_key` (`key`),
  KEY `index_solid_queue_recurring_tasks_on_static` (`static`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `solid_queue_recurring_tasks`
--

LOCK TABLES `solid_queue_recurring_tasks` WRITE;
/*!40000 ALTER TABLE `solid_queue_recurring_tasks` DISABLE KEYS */;
/*!40000 ALTER TABLE `solid_queue_recurring_tasks` ENABLE KEYS */;
UNLOCK TABLES;

--
-- Table structure for table `solid_queue_scheduled_executions`
--

DROP TABLE IF EXISTS `solid_queue_scheduled_executions`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `solid_queue_scheduled_executions` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `created_at` datetime(6) NOT NULL,
  `job_id` bigint(20) NOT NULL,
  `priority` int(11) NOT NULL DEFAULT 0,
  `queue_name` varchar(255) NOT NULL,
  `scheduled_at` datetime(6) NOT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `index_solid_queue_scheduled_executions_on_job_id` (`job_id`),
  KEY `index_solid_queue_dispatch_all` (`scheduled_at`,`priority`,`job_id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `solid_queue_scheduled_executions`
--

LOCK TABLES `solid_queue_scheduled_executions` WRITE;
/*!40000 ALTER TABLE `solid_queue_scheduled_executions` DISABLE KEYS */;
/*!40000 ALTER TABLE `solid_queue_scheduled_executions` ENABLE KEYS */;
UNLOCK TABLES;

--
-- Table structure for table `solid_queue_semaphores`
--

DROP TABLE IF EXISTS `solid_queue_semaphores`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `solid_queue_semaphores` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `created_at` datetime(6) NOT NULL,
  `expires_at` datetime(6) NOT NULL,
  `key` varchar(255) NOT NULL,
  `updated_at` datetime(6) NOT NULL,
  `value` int(11) NOT NULL DEFAULT 1,
  PRIMARY KEY (`id`),
  UNIQUE KEY `index_solid_queue_semaphores_on_key` (`key`),
  KEY `index_solid_queue_semaphores_on_expires_at` (`expires_at`),
  KEY `index_solid_queue_semaphores_on_key_and_value` (`key`,`value`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `solid_queue_semaphores`
--

LOCK TABLES `solid_queue_semaphores` WRITE;
/*!40000 ALTER TABLE `solid_queue_semaphores` DISABLE KEYS */;
/*!40000 ALTER TABLE `solid_queue_semaphores` ENABLE KEYS */;
UNLOCK TABLES;

--
-- Table structure for table `users`
--

DROP TABLE IF EXISTS `users`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `users` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `admin` tinyint(1) DEFAULT 0,
  `authentication_token` varchar(30) DEFAULT NULL,
  `confirmation_sent_at` datetime DEFAULT NULL,
  `confirmation_token` varchar(255) DEFAULT NULL,
  `confirmed_at` datetime DEFAULT NULL,
  `created_at` datetime DEFAULT NULL,
  `current_sign_in_at` datetime DEFAULT NULL,
  `current_sign_in_ip` varchar(255) DEFAULT NULL,
  `email` varchar(255) NOT NULL DEFAULT '',
  `email_sent_count` int(11) NOT NULL DEFAULT 0,
  `email_sent_count_reset_at` datetime(6) DEFAULT NULL,
  `encrypted_password` varchar(255) NOT NULL DEFAULT '',
  `failed_attempts` int(11) DEFAULT 0,
  `last_otp_timestep` int(11) DEFAULT NULL,
  `last_sign_in_at` datetime DEFAULT NULL,
  `last_sign_in_ip` varchar(255) DEFAULT NULL,
  `locked_at` datetime DEFAULT NULL,
  `otp_backup_code_digests` text DEFAULT NULL,
  `otp_required_for_login` tinyint(1) DEFAULT NULL,
  `otp_secret_ciphertext` text DEFAULT NULL,
  `preferred_language` varchar(255) DEFAULT NULL,
  `remember_created_at` datetime DEFAULT NULL,
  `reset_password_sent_at` datetime DEFAULT NULL,
  `reset_password_token` varchar(255) DEFAULT NULL,
  `sign_in_count` int(11) DEFAULT 0,
  `unconfirmed_email` varchar(255) DEFAULT NULL,
  `unlock_token` varchar(255) DEFAULT NULL,
  `updated_at` datetime DEFAULT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `index_users_on_email` (`email`),
  UNIQUE KEY `index_users_on_authentication_token` (`authentication_token`),
  UNIQUE KEY `index_users_on_confirmation_token` (`confirmation_token`),
  UNIQUE KEY `index_users_on_reset_password_token` (`reset_password_token`),
  UNIQUE KEY `index_users_on_unlock_token` (`unlock_token`)
) ENGINE=InnoDB AUTO_INCREMENT=3 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `users`
--

LOCK TABLES `users` WRITE;
/*!40000 ALTER TABLE `users` DISABLE KEYS */;
INSERT INTO `users` VALUES
(1,1,'Zx_9yQm3v-8TfLkWcRbP',NULL,NULL,NULL,'2026-08-01 10:00:30',NULL,NULL,'ann@example.com',0,NULL,'$2a$04$cHIwhe40rK/vuI6crVLBT.OpcUOxNLSmqcgpLshvcClDPmWyZtSH.',0,1785578430,NULL,NULL,NULL,'[\"00ff\"]',1,'IhMw27bEed0oLs2M0N6c1XlG5tMghLa+DOkpleYLjoBBvfoEpiwBu90hlUg=','de',NULL,NULL,NULL,0,NULL,NULL,'2026-08-01 10:01:30'),
(2,0,NULL,NULL,NULL,NULL,'2026-08-01 10:02:30',NULL,NULL,'o\'hara@example.com',0,NULL,'$2a$04$2G2G7gfeyCpzzNxpzkmvy.2QtVY7hkPM9jJZwG9m1UBBFvm2QaR6G',0,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0,NULL,NULL,'2026-08-01 10:02:30');
/*!40000 ALTER TABLE `users` ENABLE KEYS */;
UNLOCK TABLES;

--
-- Table structure for table `views`
--

DROP TABLE IF EXISTS `views`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `views` (
  `id` bigint(20) NOT NULL AUTO_INCREMENT,
  `created_at` datetime DEFAULT NULL,
  `file_push_id` bigint(20) DEFAULT NULL,
  `ip` varchar(255) DEFAULT NULL,
  `kind` int(11) DEFAULT 0,
  `password_id` bigint(20) DEFAULT NULL,
  `referrer` varchar(255) DEFAULT NULL,
  `successful` tinyint(1) DEFAULT NULL,
  `updated_at` datetime DEFAULT NULL,
  `url_id` bigint(20) DEFAULT NULL,
  `user_agent` varchar(255) DEFAULT NULL,
  `user_id` bigint(20) DEFAULT NULL,
  PRIMARY KEY (`id`),
  KEY `index_views_on_file_push_id` (`file_push_id`),
  KEY `index_views_on_kind` (`kind`),
  KEY `index_views_on_password_id` (`password_id`),
  KEY `index_views_on_successful` (`successful`),
  KEY `index_views_on_url_id` (`url_id`)
) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `views`
--

LOCK TABLES `views` WRITE;
/*!40000 ALTER TABLE `views` DISABLE KEYS */;
/*!40000 ALTER TABLE `views` ENABLE KEYS */;
UNLOCK TABLES;
/*!40103 SET TIME_ZONE=@OLD_TIME_ZONE */;

/*!40101 SET SQL_MODE=@OLD_SQL_MODE */;
/*!40014 SET FOREIGN_KEY_CHECKS=@OLD_FOREIGN_KEY_CHECKS */;
/*!40014 SET UNIQUE_CHECKS=@OLD_UNIQUE_CHECKS */;
/*!40101 SET CHARACTER_SET_CLIENT=@OLD_CHARACTER_SET_CLIENT */;
/*!40101 SET CHARACTER_SET_RESULTS=@OLD_CHARACTER_SET_RESULTS */;
/*!40101 SET COLLATION_CONNECTION=@OLD_COLLATION_CONNECTION */;
/*!40111 SET SQL_NOTES=@OLD_SQL_NOTES */;

-- Dump completed on 2026-11-22 21:25:08
